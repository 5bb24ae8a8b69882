public import AdafruitIO
public import Diagnostics
public import Sockets

/// An account of the simulator.
public struct SimulatedAccount: Sendable {
    /// The name.
    public var name: String
    /// The key that opens both doors.
    public var key: Secret
    /// What it may do.
    public var plan: AdafruitIOPlan

    /// Makes an account.
    public init(name: String, key: Secret, plan: AdafruitIOPlan = .free) {
        self.name = name
        self.key = key
        self.plan = plan
    }
}

/// The service behind the doors: what MQTT, REST and dashboards do to the same accounts.
///
/// Thread rule: what touches the store or a connection runs on `executor`, one piece at a time. Meters, counters and
/// faults are behind locks and belong to any thread.
public final class SimulatedService: Sendable {
    /// The thread of the connections and of all work on the store.
    public let executor: EventLoop
    /// Everything that is kept.
    public let store: SimulatorStore
    /// Where the time comes from.
    public let time: any TimeSource
    /// What is not known of the service.
    public let options: SimulatorOptions
    /// What is to go wrong.
    public let faults: Faults
    /// The names of the accounts, in the order they were given.
    public let accounts: [String]
    let log: Log
    let hub = EventHub()
    let agenda: Agenda
    let sessions = SessionRegistry()
    let meters: Guarded<[String: AccountMeter]>
    private let counts: Guarded<[String: AccountCounters]>
    private let known: [String: SimulatedAccount]

    /// Makes the service with its accounts; `file` is where the data is kept, or nil for memory.
    public init(
        accounts: [SimulatedAccount],
        file: String? = nil,
        options: SimulatorOptions = SimulatorOptions(),
        faults: Faults = Faults(),
        time: any TimeSource = SystemTime(),
        log: Log = .silent
    ) throws(SimulatorError) {
        do throws(SocketError) {
            executor = try EventLoop(name: "simulator")
        } catch {
            throw .socket(error, option: "--mqtt-port")
        }
        self.accounts = accounts.map(\.name)
        self.time = time
        self.options = options
        self.faults = faults
        self.log = log
        agenda = Agenda(time: time, loop: executor)
        known = Dictionary(accounts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        counts = Guarded(known.mapValues { _ in AccountCounters() })
        meters = Guarded(
            known.mapValues { AccountMeter(plan: $0.plan, enforcementLimit: options.enforcementLimit) }
        )
        do throws(StoreError) {
            store = try SimulatorStore(file: file, time: time)
            for account in accounts { try store.addAccount(account.name, plan: account.plan) }
        } catch {
            throw .store(error, file: file)
        }
    }

    deinit {
        agenda.end()
    }

    /// Closes every connection and forgets what was to be done later.
    public func stop() async {
        agenda.end()
        await executor.run { self.sessions.closeAll() }
    }

    func plan(of account: String) -> AdafruitIOPlan { known[account]?.plan ?? .free }

    /// The account that a key opens.
    func account(withKey key: Secret) -> String? {
        accounts.first { known[$0]?.key == key }
    }

    /// Whether a key opens that very account.
    func isKey(_ key: Secret, of account: String) -> Bool { known[account]?.key == key }

    /// What happened on each account since the start.
    public var counters: [String: AccountCounters] { counts.withLock { $0 } }

    func count(_ account: String, _ change: (inout AccountCounters) -> Void) {
        counts.withLock { counts in
            guard var counters = counts[account] else { return }
            change(&counters)
            counts[account] = counters
        }
    }

    /// Asks the account's meter; `now` is the boot-time clock.
    func meter<Result: Sendable>(
        _ account: String,
        _ body: (inout AccountMeter, BootInstant) -> Result
    ) -> Result {
        let now = time.boot()
        return meters.withLock { meters in
            // In place: a copy would copy the whole minute's events with every message.
            body(&meters[account, default: AccountMeter(plan: .free)], now)
        }
    }
}
