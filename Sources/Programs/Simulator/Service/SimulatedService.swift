public import AdafruitIO
internal import DataPoints
public import Diagnostics
internal import HTTPServer

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
/// Thread rule: work on the store runs on `executor`, one piece at a time, since it may wait for the disk.
public final class SimulatedService: Sendable {
    /// Where work on the store runs.
    public let executor = BlockingExecutor(label: "simulated-service")
    /// Everything that is kept.
    public let store: SimulatorStore
    /// Where the time comes from.
    public let time: any TimeSource
    /// What is not known of the service.
    public let options: SimulatorOptions
    let hub = EventHub()

    private let known: [String: SimulatedAccount]
    let meters: Guarded<[String: Meter]>

    struct Meter {
        var data = RollingWindow()
        var requests = 0
    }

    /// The names of the accounts, in the order they were given.
    public let accounts: [String]

    /// Makes the service with its accounts; `file` is where the data is kept, or nil for memory.
    public init(
        accounts: [SimulatedAccount],
        file: String? = nil,
        options: SimulatorOptions = SimulatorOptions(),
        time: any TimeSource = SystemTime()
    ) throws(StoreError) {
        self.accounts = accounts.map(\.name)
        self.time = time
        self.options = options
        known = Dictionary(accounts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        meters = Guarded([:])
        store = try SimulatorStore(file: file, time: time)
        for account in accounts { try store.addAccount(account.name, plan: account.plan) }
    }

    func plan(of account: String) -> AdafruitIOPlan { known[account]?.plan ?? .free }

    /// The account that a key opens.
    func account(withKey key: Secret) -> String? {
        accounts.first { known[$0]?.key == key }
    }
}
