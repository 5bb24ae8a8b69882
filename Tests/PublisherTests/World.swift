import DataPoints
import Diagnostics
import Publisher

/// A service, an outbox, rules and a publisher between them, in weather that loses, delays, doubles and refuses.
struct World {
    struct Weather {
        /// The service drops a publish after its PUBACK, without a word.
        var lostPublish = 0.0
        var lostEcho = 0.0
        var doubleEcho = 0.0
        /// A point is stored later than it should be.
        var lateStore = 0.0
        /// A request fails before it is done, or its answer is lost after it.
        var lostRequest = 0.0
        var lostAnswer = 0.0
        var failedRequest = 0.0
        /// The connection breaks at a publish; an attempt to connect fails.
        var brokenConnection = 0.0
        var failedConnect = 0.0
        /// A value that the service never takes.
        var poison = 0.0
        var delay = 0.4
    }

    struct Rule {
        var feed: FeedKey
        var interval: Double
        /// How many different texts it makes.
        var texts: Int
    }

    enum Happening {
        case wake
        case sample(Int)
        case toMachine(life: Int, connection: Int?, PublisherEvent)
        case publishArrives(connection: Int, message: Int, PublisherPoint)
        case store(PublisherPoint, late: Bool)
        case request(life: Int, Int, Request)
        case foreign(FeedKey?, every: Double)
    }

    enum Request {
        case post([PublisherPoint])
        case lookUp(FeedKey, Timestamp, Timestamp)
        case delete(FeedKey, String)
        case throttle
    }

    var now = 1000.0
    var dice: Dice
    var weather = Weather()
    var service = SimulatedService()
    var outbox = SimulatedOutbox()
    var settings: PublisherSettings
    var rules: [Rule]
    var machine: PublisherStateMachine
    var memory: PublisherMemory?
    var queue = EventQueue<Happening>()
    var steps = 0
    var faults: [String] = []
    var life = 0
    var mqttIsReachable = true
    var restIsReachable = true
    var isSampling = true
    var intervals: [FeedKey: Double] = [:]
    var booted = 0
    var wakeAt: Double?
    // What the invariants are about.
    var connection: Int?
    var epoch = 0
    var heldUntil = 0.0
    var sent: [(at: Double, count: Int, request: Int?)] = []
    var logins: [Double] = []
    var subscribes: [Double] = []
    var inFlight: [FeedKey: (id: Int, at: Double)] = [:]
    var posting: [Int: [PublisherPoint]] = [:]
    var countByLink: [PublisherLink: Int] = [:]
    var doubtCount = 0
    var reports: [PublisherReport] = []
    var used: PublisherLink?
    var granted: [Int: PublisherLink] = [:]
    var denied: Set<Int> = []

    init(seed: UInt64, settings: PublisherSettings = PublisherSettings(), rules: [Rule]) {
        dice = Dice(state: seed)
        self.rules = rules
        self.settings = settings
        self.settings.rules = rules.map { RuleDemand(feed: $0.feed, interval: .seconds($0.interval)) }
        machine = PublisherStateMachine(
            settings: self.settings,
            bootID: "0",
            at: BootInstant(nanoseconds: 1_000_000_000_000),
            random: Dice(state: seed)
        )
        for index in rules.indices { queue.plan(now + dice.seconds(0...rules[index].interval), .sample(index)) }
        hand(.start(waiting: [:]))
    }

    var boot: BootInstant { BootInstant(nanoseconds: Int64((now * 1e9).rounded())) }

    mutating func run(for seconds: Double) {
        let end = now + seconds
        while let at = queue.earliest, at <= end, let next = queue.next() {
            now = max(now, next.at)
            happen(next.what)
        }
        now = end
    }

    mutating func fault(_ text: String) {
        if faults.count < 20 { faults.append("\(now): \(text)") }
    }

    mutating func delay() -> Double { dice.seconds(0.005...weather.delay) }

    // MARK: What people and machines do

    /// The program dies and starts again with what was kept; `reboot` also starts the boot clock's count anew by its id.
    mutating func restart(reboot: Bool = false) {
        if reboot { booted += 1 }
        life += 1
        epoch += 1
        connection = nil
        sent = sent.map { ($0.at, $0.count, nil) }
        inFlight = [:]
        posting = [:]
        intervals = [:]
        machine = PublisherStateMachine(
            settings: settings,
            memory: memory,
            bootID: "\(booted)",
            at: boot,
            random: Dice(state: dice.next())
        )
        hand(.start(waiting: outbox.waiting, newest: outbox.accepted))
    }

    mutating func breakConnection(_ reason: ReconnectPolicy.Ending = .failed(.closed)) {
        guard let number = connection else { return }
        connection = nil
        epoch += 1
        hand(.mqtt(connection: number, .ended(reason)))
    }

    /// The outbox drops the oldest point of a feed.
    mutating func evict() {
        guard let feed = rules.first?.feed, let id = outbox.evictOldest(feed) else { return }
        // It is not waited for any more, whatever becomes of it.
        if inFlight[feed]?.id == id { inFlight[feed] = nil }
        hand(.changed([feed]))
    }

    mutating func ban(for seconds: Double) {
        service.bannedUntil = max(service.bannedUntil, now + seconds)
        guard let number = connection else { return }
        let event = PublisherEvent.mqtt(connection: number, .banned(.seconds(seconds)))
        note(event)
        hand(event)
    }

    // MARK: How the world turns

    private mutating func happen(_ what: Happening) {
        switch what {
        case .wake:
            guard let deadline = machine.deadline, deadline <= boot else { return }
            hand(.tick)
        case .sample(let index): sample(index)
        case .toMachine(let life, let epoch, let event):
            guard life == self.life, epoch == nil || epoch == self.epoch else { return }
            note(event)
            hand(event)
        case .publishArrives(let connection, let message, let point):
            publishArrives(connection, message, point)
        case .store(let point, let late): store(point, late: late)
        case .request(let life, let number, let request): serve(life, number, request)
        case .foreign(let feed, let every):
            queue.plan(now + every, .foreign(feed, every: every))
            guard now >= service.bannedUntil, service.count(at: now) == nil, let feed else { return }
            let text = "foreign \(Int(now))"
            service.add(
                .init(id: 0, feed: feed, text: text, createdAt: service.time(at: now), isByMQTT: true, arrivedAt: now)
            )
            echo(feed, text)
        }
    }

    /// The publisher knows from now on that it must not.
    private mutating func note(_ event: PublisherEvent) {
        var wait = 0.0
        switch event {
        case .mqtt(_, .banned(let told)), .mqtt(_, .throttled(let told)): wait = told.inSeconds
        case .mqtt(_, .ended(.banned(let told))): wait = max(60, told?.inSeconds ?? 0)
        case .answered(let request, let outcome):
            posting[request] = nil
            if case .notSent = outcome { sent.removeAll { $0.request == request } }
            if case .throttled(let told) = outcome { wait = told?.inSeconds ?? 30 }
        default: break
        }
        heldUntil = max(heldUntil, now + wait)
    }

    private mutating func sample(_ index: Int) {
        let rule = rules[index]
        queue.plan(now + max(rule.interval, intervals[rule.feed] ?? 0), .sample(index))
        guard isSampling else { return }
        let number = outbox.accepted % max(1, rule.texts)
        let text = dice.chance(weather.poison) ? "poison" : "\(number)"
        let point = DataPoint(feed: rule.feed, value: text, createdAt: service.time(at: now))
        hand(.accepted([outbox.append(point, bornAt: boot)]))
    }

    private mutating func publishArrives(_ epoch: Int, _ message: Int, _ point: PublisherPoint) {
        guard epoch == self.epoch, let number = connection else { return }
        guard now >= service.bannedUntil else { return service.reject(at: now) }
        answer(.mqtt(connection: number, .acknowledged(message: message)), ofConnection: true)
        if let wait = service.count(at: now) {
            answer(.mqtt(connection: number, .throttled(.seconds(wait))), ofConnection: true)
            return service.reject(at: now)
        }
        if point.point.value == "poison" {
            service.reject(at: now)
            return answer(.mqtt(connection: number, .rejected(point.point.feed)), ofConnection: true)
        }
        if dice.chance(weather.lostPublish) { return service.reject(at: now) }
        let isLate = dice.chance(weather.lateStore)
        queue.plan(now + (isLate ? dice.seconds(11...40) : delay()), .store(point, late: isLate))
    }

    private mutating func store(_ point: PublisherPoint, late: Bool) {
        service.store(point, byMQTT: true, at: now)
        guard !dice.chance(weather.lostEcho) else { return }
        echo(point.point.feed, point.point.value)
        if dice.chance(weather.doubleEcho) { echo(point.point.feed, point.point.value) }
    }

    mutating func echo(_ feed: FeedKey, _ text: String) {
        guard let number = connection else { return }
        answer(.mqtt(connection: number, .echoed(feed, text)), ofConnection: true)
    }

    mutating func answer(_ event: PublisherEvent, ofConnection: Bool = false) {
        queue.plan(now + delay(), .toMachine(life: life, connection: ofConnection ? epoch : nil, event))
    }

    mutating func hand(_ event: PublisherEvent) {
        steps += 1
        let actions = machine.handle(event, at: boot)
        for action in actions { execute(action) }
        guard let deadline = machine.deadline else { return }
        let at = Double(deadline.nanoseconds) / 1e9
        if wakeAt.map({ at < $0 || $0 <= now }) ?? true {
            wakeAt = at
            queue.plan(max(at, now), .wake)
        } else if let wakeAt, at > wakeAt {
            self.wakeAt = at
            queue.plan(at, .wake)
        }
        if !outbox.isBalanced { fault("accepted is not confirmed + refused + evicted + pending") }
    }
}
