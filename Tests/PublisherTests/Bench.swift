import DataPoints
import Diagnostics
import FoundationEssentials
import Publisher

/// A publisher on a bench: what happens is handed in, and what it wants done is looked at.
struct Bench {
    var now = 1000.0
    var settings: PublisherSettings
    var machine: PublisherStateMachine
    var memory: PublisherMemory?
    var actions: [PublisherAction] = []
    var nextID = 1

    static let epoch = 1_790_000_000.0

    init(feeds: [FeedKey], plan: Int? = nil, profile: PublisherSettings.Profile = .adafruitIO, start: Bool = true) {
        settings = PublisherSettings()
        settings.plan = plan
        settings.profile = profile
        settings.rules = feeds.map { RuleDemand(feed: $0, interval: .seconds(60)) }
        let boot = BootInstant(nanoseconds: 1_000_000_000_000)
        machine = PublisherStateMachine(settings: settings, bootID: "a", at: boot, random: Dice(state: 1))
        if start { hand(.start(waiting: [:])) }
    }

    var boot: BootInstant { BootInstant(nanoseconds: Int64((now * 1e9).rounded())) }
    func time(_ second: Double) -> Timestamp { Timestamp(nanoseconds: Int64((Self.epoch + second) * 1e9)) }

    /// Hands something in; `actions` is what follows from it.
    mutating func hand(_ event: PublisherEvent) {
        actions = machine.handle(event, at: boot).filter { action in
            guard case .remember(let memory) = action else { return true }
            self.memory = memory
            return false
        }
    }

    /// Lets time go by, tick by tick as `deadline` says; `actions` is all that followed.
    mutating func wait(_ seconds: Double) {
        let end = now + seconds
        var all: [PublisherAction] = []
        while let deadline = machine.deadline, Double(deadline.nanoseconds) / 1e9 <= end {
            now = max(now, Double(deadline.nanoseconds) / 1e9)
            hand(.tick)
            all += actions
        }
        now = end
        hand(.tick)
        actions = all + actions
    }

    /// Starts the program anew with what it kept, as it was written and read.
    mutating func restart(bootID: String = "a") throws {
        let data = try memory.map { try JSONEncoder().encode($0) }
        memory = try data.map { try JSONDecoder().decode(PublisherMemory.self, from: $0) }
        machine = PublisherStateMachine(
            settings: settings,
            memory: memory,
            bootID: bootID,
            at: boot,
            random: Dice(state: 2)
        )
        hand(.start(waiting: [:]))
    }

    var connection: Int {
        actions.compactMap { if case .connect(let number) = $0 { number } else { nil } }.last ?? current
    }
    private var current = 1

    /// Logs in and gets all that it subscribes to, and the answer about the throttle.
    mutating func connect() {
        var seen: [PublisherAction] = []
        current = connection
        mqtt(.connected)
        seen += actions
        var filters = subscribed
        while !filters.isEmpty {
            let before = filters
            filters = []
            for filter in before {
                mqtt(.subscribed(filter))
                seen += actions
                filters += subscribed
            }
        }
        actions = seen
        if let request = throttleRead {
            hand(.serviceTime(time(now + 0.5)))
            hand(.answered(request: request, .throttle(limit: settings.plan ?? 30, used: 0)))
        }
    }

    mutating func mqtt(_ what: MQTTHappening) { hand(.mqtt(connection: current, what)) }

    mutating func sample(_ feed: FeedKey, _ text: String, attempts: Int = 0) {
        let point = DataPoint(feed: feed, value: text, createdAt: time(now))
        hand(.accepted([PublisherPoint(id: nextID, point: point, bornAt: boot, attempts: attempts)]))
        nextID += 1
    }

    // MARK: What it wants

    var published: [PublisherPoint] {
        actions.flatMap { action -> [PublisherPoint] in
            if case .publish(_, _, let points) = action { points } else { [] }
        }
    }
    var messages: [Int] { actions.compactMap { if case .publish(_, let number, _) = $0 { number } else { nil } } }
    var posts: [(request: Int, points: [PublisherPoint])] {
        actions.compactMap { if case .post(let request, _, let points) = $0 { (request, points) } else { nil } }
    }
    var lookUps: [Int] {
        actions.compactMap { if case .lookUp(let request, _, _, _) = $0 { request } else { nil } }
    }
    var subscribed: [PublisherFilter] {
        actions.flatMap { action -> [PublisherFilter] in
            if case .subscribe(_, let filters) = action { filters } else { [] }
        }
    }
    var throttleRead: Int? {
        actions.compactMap { if case .readThrottle(let request) = $0 { request } else { nil } }.last
    }
    var confirmed: [Int] {
        actions.flatMap { action -> [Int] in
            if case .confirm(let ids) = action { ids } else { [] }
        }
    }
    var refused: [Int] {
        actions.flatMap { action -> [Int] in
            if case .refuse(let ids, _) = action { ids } else { [] }
        }
    }
    var connects: Int { actions.count { if case .connect = $0 { true } else { false } } }
    /// Whether anything reaches the service by these actions.
    var isSilent: Bool {
        published.isEmpty && posts.isEmpty && lookUps.isEmpty && throttleRead == nil && connects == 0
            && subscribed.isEmpty
    }
}
