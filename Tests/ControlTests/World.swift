import Control
import Diagnostics

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }

    mutating func seconds(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }

    mutating func one<Value>(of values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &self)] }
}

/// A service with one control feed, a user, and bridges that lose their connection, their messages and their power.
///
/// Times are seconds. A connection delivers in order; what is under way when it breaks is lost.
struct World {
    struct Point: Equatable {
        var text: String
        var second: Double
        /// The time as the service shows it: cut to the second.
        var createdAt: Timestamp { Timestamp(nanoseconds: Int64(second.rounded(.down) * 1e9)) }
    }

    /// What may go wrong, as probabilities.
    struct Weather {
        /// A write is dropped by the service without a word to the sender.
        var lostWrite = 0.0
        /// A question over MQTT is not answered.
        var lostAnswer = 0.0
        /// A request by REST fails before it is done, or its answer is lost after it.
        var lostRequest = 0.0
        /// The service's clock is not known.
        var noClock = 0.0
        /// Recording fails to start.
        var failedStart = 0.0
        /// The longest delay of one way.
        var delay = 0.5
    }

    private enum Happening {
        case atService(Int, epoch: Int, Request)
        case atBridge(Int, epoch: Int?, SwitchEvent)
        case recorder(Int, life: Int, SwitchEvent)
        case wake(Int)
    }

    private enum Request {
        case publish(String)
        case ask
        case post(String, write: Int)
        case get(read: Int)
    }

    struct Bridge {
        var settings: SwitchSettings
        var machine: SwitchStateMachine
        var memory = SwitchMemory()
        /// The service's clock minus the bridge's.
        var offset: Double
        var link: SwitchLink?
        /// Counts connections.
        var epoch = 0
        /// Counts starts of the program.
        var life = 0
        var lastDown = 0.0
        var lastUp = 0.0
        // What the invariants are about.
        var isRecording = false
        var isBusy = false
        var writes: [(second: Double, text: String)] = []
        var tells: [(second: Double, text: String)] = []
        var session = 0
        var decisions = 0
    }

    private(set) var now = 1_790_000_000.0
    var weather = Weather()
    var dice: Dice
    private(set) var points: [Point] = []
    private(set) var bridges: [Bridge] = []
    private(set) var steps = 0
    private(set) var faults: [String] = []
    private var queue: [(second: Double, order: Int, what: Happening)] = []
    private var order = 0

    init(seed: UInt64, settings: [SwitchSettings]) {
        dice = Dice(state: seed)
        for settings in settings {
            let offset = dice.seconds(-100...100).rounded()
            bridges.append(
                Bridge(
                    settings: settings,
                    machine: SwitchStateMachine(settings: settings, bootID: "boot"),
                    offset: offset
                )
            )
        }
        for bridge in bridges.indices { hand(.launched, to: bridge) }
    }

    // MARK: What people and machines do

    mutating func userWrites(_ text: String) {
        store(text)
    }

    mutating func connect(_ bridge: Int, _ link: SwitchLink) {
        bridges[bridge].link = link
        bridges[bridge].epoch += 1
        hand(.connected(link), to: bridge)
        if link == .mqtt, !bridges[bridge].settings.canAsk, let last = points.last {
            answer(bridge, .arrived(last.text, retained: true))
        }
    }

    mutating func disconnect(_ bridge: Int) {
        bridges[bridge].link = nil
        bridges[bridge].epoch += 1
        hand(.disconnected, to: bridge)
    }

    /// The power goes and comes back: only the memory is left.
    mutating func restart(_ bridge: Int) {
        bridges[bridge].link = nil
        bridges[bridge].epoch += 1
        bridges[bridge].life += 1
        bridges[bridge].isRecording = false
        bridges[bridge].isBusy = false
        bridges[bridge].tells = []
        bridges[bridge].writes = []
        let (settings, memory) = (bridges[bridge].settings, bridges[bridge].memory)
        bridges[bridge].machine = SwitchStateMachine(settings: settings, memory: memory, bootID: "boot")
        hand(.launched, to: bridge)
    }

    mutating func decide(_ bridge: Int, _ event: SwitchEvent) {
        hand(event, to: bridge)
    }

    mutating func run(for seconds: Double) {
        let end = now + seconds
        while let next = queue.first, next.second <= end {
            queue.removeFirst()
            now = max(now, next.second)
            happen(next.what)
        }
        now = end
    }

    // MARK: How the world turns

    private mutating func plan(_ second: Double, _ what: Happening) {
        order += 1
        let place = queue.firstIndex { $0.second > second } ?? queue.endIndex
        queue.insert((second, order, what), at: place)
    }

    private mutating func happen(_ what: Happening) {
        switch what {
        case .wake(let bridge):
            guard let deadline = bridges[bridge].machine.deadline, deadline <= moment(bridge).boot else { return }
            hand(.tick, to: bridge)
        case .atBridge(let bridge, let epoch, let event):
            guard epoch == bridges[bridge].epoch else { return }
            hand(event, to: bridge)
        case .recorder(let bridge, let life, let event):
            guard life == bridges[bridge].life else { return }
            bridges[bridge].isBusy = false
            switch event {
            case .started: bridges[bridge].isRecording = true
            case .stopped: bridges[bridge].isRecording = false
            default: bridges[bridge].decisions += 1
            }
            hand(event, to: bridge)
        case .atService(let bridge, let epoch, let request):
            serve(bridge, epoch, request)
        }
    }

    private mutating func serve(_ bridge: Int, _ epoch: Int, _ request: Request) {
        switch request {
        case .publish(let text):
            guard epoch == bridges[bridge].epoch, !dice.chance(weather.lostWrite) else { return }
            store(text)
        case .ask:
            guard epoch == bridges[bridge].epoch, !dice.chance(weather.lostAnswer), let last = points.last else {
                return
            }
            answer(bridge, .arrived(last.text, retained: false))
        case .post(let text, let write):
            guard !dice.chance(weather.lostRequest) else { return reply(bridge, epoch, .writeFailed(write: write)) }
            store(text)
            let isLost = dice.chance(weather.lostRequest)
            let createdAt = points.last?.createdAt
            reply(bridge, epoch, isLost ? .writeFailed(write: write) : .written(createdAt: createdAt, write: write))
        case .get(let read):
            guard !dice.chance(weather.lostRequest) else { return reply(bridge, epoch, .readFailed(read: read)) }
            guard let last = points.last else { return reply(bridge, epoch, .empty(read: read)) }
            let offset = dice.chance(weather.noClock) ? nil : Duration.seconds(bridges[bridge].offset)
            reply(
                bridge,
                epoch,
                .last(last.text, createdAt: last.createdAt, clockOffset: offset, read: read)
            )
        }
    }

    private mutating func store(_ text: String) {
        points.append(Point(text: text, second: now))
        for bridge in bridges.indices where bridges[bridge].link == .mqtt {
            answer(bridge, .arrived(text, retained: false))
        }
    }

    /// Sends down a connection, after all that was sent before.
    private mutating func answer(_ bridge: Int, _ event: SwitchEvent) {
        let second = max(now + dice.seconds(0.001...weather.delay), bridges[bridge].lastDown)
        bridges[bridge].lastDown = second
        plan(second, .atBridge(bridge, epoch: bridges[bridge].epoch, event))
    }

    /// Answers a request by REST, in no order.
    private mutating func reply(_ bridge: Int, _ epoch: Int, _ event: SwitchEvent) {
        plan(now + dice.seconds(0.001...weather.delay), .atBridge(bridge, epoch: epoch, event))
    }

    private func moment(_ bridge: Int) -> SwitchMoment {
        SwitchMoment(
            wall: Timestamp(nanoseconds: Int64((now - bridges[bridge].offset) * 1e9)),
            boot: BootInstant(nanoseconds: Int64((now - 1_780_000_000) * 1e9))
        )
    }

    private mutating func hand(_ event: SwitchEvent, to bridge: Int) {
        steps += 1
        let hadPending = bridges[bridge].memory.pending
        let wanted = bridges[bridge].machine.wanted
        let actions = bridges[bridge].machine.handle(event, at: moment(bridge))
        for action in actions { carryOut(action, bridge) }
        switch event {
        case .arrived, .written:
            if hadPending == nil, actions.contains(where: \.isWrite) { fault("wrote in answer to \(event)") }
        case .command, .schedule, .alert, .limitReached:
            if wanted != bridges[bridge].machine.wanted { bridges[bridge].decisions += 1 }
        case .empty: bridges[bridge].decisions += 1
        default: break
        }
        if let deadline = bridges[bridge].machine.deadline {
            let second = Double(deadline.nanoseconds) / 1e9 + 1_780_000_000 + 0.000_001
            if second <= now { fault("a deadline in the past after \(event)") }
            plan(second, .wake(bridge))
        }
    }

    private mutating func carryOut(_ action: SwitchAction, _ bridge: Int) {
        let up = max(now + dice.seconds(0.001...weather.delay), bridges[bridge].lastUp)
        let epoch = bridges[bridge].epoch
        switch action {
        case .remember(let memory):
            bridges[bridge].memory = memory
        case .start:
            if bridges[bridge].isRecording || bridges[bridge].isBusy { fault("started twice") }
            bridges[bridge].isBusy = true
            bridges[bridge].session += 1
            let fails = dice.chance(weather.failedStart)
            let event: SwitchEvent = fails ? .startFailed("no") : .started(session: "\(bridges[bridge].session)")
            plan(now + dice.seconds(0.001...0.2), .recorder(bridge, life: bridges[bridge].life, event))
        case .stop:
            if !bridges[bridge].isRecording || bridges[bridge].isBusy { fault("stopped twice") }
            bridges[bridge].isBusy = true
            plan(now + dice.seconds(0.001...1), .recorder(bridge, life: bridges[bridge].life, .stopped))
        case .write(let text, let id):
            if bridges[bridge].link == nil { fault("wrote while disconnected") }
            if !bridges[bridge].settings.writeBack { fault("wrote with write_back off") }
            if let last = bridges[bridge].writes.last, now - last.second < 4.999 {
                fault("wrote \(now - last.second) s after the last write")
            }
            bridges[bridge].writes.append((now, text))
            if bridges[bridge].link == .mqtt {
                bridges[bridge].lastUp = up
                plan(up, .atService(bridge, epoch: epoch, .publish(text)))
            } else {
                plan(up, .atService(bridge, epoch: epoch, .post(text, write: id)))
            }
        case .tell(let text):
            if bridges[bridge].link == nil { fault("told while disconnected") }
            if let last = bridges[bridge].tells.last, now - last.second < 59.999 { fault("told too often") }
            bridges[bridge].tells.append((now, text))
        case .ask:
            if bridges[bridge].link != .mqtt { fault("asked without MQTT") }
            bridges[bridge].lastUp = up
            plan(up, .atService(bridge, epoch: epoch, .ask))
        case .read(let id):
            if bridges[bridge].link == nil { fault("read while disconnected") }
            if !bridges[bridge].settings.hasREST { fault("read without REST") }
            plan(up, .atService(bridge, epoch: epoch, .get(read: id)))
        }
    }

    private mutating func fault(_ text: String) {
        faults.append("\(now): \(text)")
    }
}

extension SwitchAction {
    fileprivate var isWrite: Bool {
        if case .write = self { true } else { false }
    }
}
