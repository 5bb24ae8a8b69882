import DataPoints
import Diagnostics
import Publisher

/// A plain broker, an outbox and a publisher between them, with connections that break and a program that dies.
struct PlainWorld {
    struct Message {
        var number: Int
        var points: [PublisherPoint]
    }

    enum Happening {
        case wake
        case sample(Int)
        /// The broker takes the next message of that connection.
        case arrive(connection: Int)
        /// Something reaches the machine, unless the connection or the program has ended.
        case tell(life: Int, connection: Int?, PublisherEvent)
    }

    let feeds: [FeedKey]
    let inFlight: Int
    let perMessage: Int
    var now = 1000.0
    var dice: Dice
    var settings = PublisherSettings()
    var outbox = SimulatedOutbox()
    var machine: PublisherStateMachine
    var memory: PublisherMemory?
    var queue = EventQueue<Happening>()
    var faults: [String] = []
    var steps = 0
    var life = 0
    var isReachable = true
    var isSampling = true
    /// Messages that wait between us and the broker, by connection; one that hangs does not move.
    var wire: [Message] = []
    var isFrozen = false
    var connection: Int?
    var underWay: [Int: Message] = [:]
    /// What the broker got, in order.
    var arrived: [FeedKey: [Int]] = [:]
    var arrivedIDs: Set<Int> = []
    var doubts = 0
    var marked: Set<Int> = []
    var sent: [(at: Double, count: Int)] = []
    var largestBurst = 0
    /// The chance that a connection breaks at a message.
    var breaks = 0.0

    init(seed: UInt64, feeds: [FeedKey], inFlight: Int, perMessage: Int, plan: Int? = nil) {
        self.feeds = feeds
        self.inFlight = inFlight
        self.perMessage = perMessage
        dice = Dice(state: seed)
        settings.profile = .plain(inFlight: inFlight, pointsPerMessage: perMessage)
        settings.plan = plan
        machine = PublisherStateMachine(
            settings: settings,
            bootID: "0",
            at: BootInstant(nanoseconds: 1_000_000_000_000),
            random: Dice(state: seed)
        )
        for index in feeds.indices { queue.plan(now + dice.seconds(0...1), .sample(index)) }
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

    /// The program dies; what it was told of since the last `remember` is lost, and it begins anew.
    mutating func restart() {
        life += 1
        // What was on the wire may still arrive.
        for message in wire.prefix(dice.chance(0.5) ? wire.count : 0) { take(message) }
        wire = []
        underWay = [:]
        connection = nil
        machine = PublisherStateMachine(
            settings: settings,
            memory: memory,
            bootID: "0",
            at: boot,
            random: Dice(state: dice.next())
        )
        hand(.start(waiting: outbox.waiting))
    }

    /// The connection ends: some messages have arrived unacknowledged, some are lost, the last ones had not left.
    mutating func breakConnection() {
        guard let number = connection else { return }
        connection = nil
        let arrivals = wire.isEmpty ? 0 : Int.random(in: 0...wire.count, using: &dice)
        for message in wire.prefix(arrivals) { take(message) }
        let lost = wire.dropFirst(arrivals)
        let unsent = lost.suffix(lost.isEmpty ? 0 : Int.random(in: 0...lost.count, using: &dice)).map(\.number)
        wire = []
        isFrozen = false
        if !unsent.isEmpty {
            for message in unsent { underWay[message] = nil }
            hand(.mqtt(connection: number, .notSent(unsent)))
        }
        underWay = [:]
        hand(.mqtt(connection: number, .ended(.failed(.closed))))
    }

    mutating func evict(_ feed: FeedKey) {
        // Never one that is on its way: the outbox keeps those.
        let isUnderWay = underWay.values.contains { $0.points.first?.point.feed == feed }
        guard !isUnderWay, let id = outbox.evictOldest(feed) else { return }
        hand(.gone(feed, [id]))
        hand(.changed([feed]))
    }

    // MARK: How the world turns

    private mutating func happen(_ what: Happening) {
        switch what {
        case .wake:
            if let deadline = machine.deadline, deadline <= boot { hand(.tick) }
        case .sample(let index): sample(index)
        case .arrive(let connection):
            guard connection == self.connection, !isFrozen, !wire.isEmpty else { return }
            if dice.chance(breaks) { return breakConnection() }
            acknowledge(connection)
        case .tell(let life, let connection, let event):
            guard life == self.life, connection == nil || connection == self.connection else { return }
            if case .mqtt(_, .acknowledgedAll(let messages)) = event {
                for message in messages { underWay[message] = nil }
            }
            hand(event)
        }
    }

    private mutating func sample(_ index: Int) {
        queue.plan(now + dice.seconds(0.05...2), .sample(index))
        guard isSampling else { return }
        let count = dice.chance(0.001) ? 2000 : Int.random(in: 1...3, using: &dice)
        let new = (0..<count).map { number in
            let created = Timestamp(nanoseconds: Int64(now * 1e9) + Int64(number))
            return outbox.append(DataPoint(feed: feeds[index], value: "\(number)", createdAt: created), bornAt: boot)
        }
        hand(dice.chance(0.1) ? .more(feeds[index], count: count) : .accepted(new))
    }

    private mutating func take(_ message: Message) {
        for point in message.points {
            arrived[point.point.feed, default: []].append(point.id)
            arrivedIDs.insert(point.id)
        }
    }

    /// The broker takes a few messages, in order, and acknowledges them together.
    private mutating func acknowledge(_ connection: Int) {
        let some = wire.prefix(Int.random(in: 1...max(1, inFlight / 3), using: &dice))
        wire.removeFirst(some.count)
        for message in some { take(message) }
        let event = PublisherEvent.mqtt(connection: connection, .acknowledgedAll(some.map(\.number)))
        queue.plan(now + dice.seconds(0.001...0.05), .tell(life: life, connection: connection, event))
        if !wire.isEmpty { queue.plan(now + dice.seconds(0.001...0.05), .arrive(connection: connection)) }
    }

    mutating func hand(_ event: PublisherEvent) {
        steps += 1
        let actions = machine.handle(event, at: boot)
        for action in actions { execute(action) }
        if let deadline = machine.deadline { queue.plan(max(now, Double(deadline.nanoseconds) / 1e9), .wake) }
        if !outbox.isBalanced { fault("accepted is not confirmed + refused + evicted + pending") }
        faults += outbox.faults.prefix(faults.isEmpty ? 1 : 0)
    }

    private mutating func execute(_ action: PublisherAction) {
        switch action {
        case .remember(let memory): self.memory = memory
        case .connect(let number): connect(number)
        case .disconnect(let number):
            connection = number
            breakConnection()
        case .subscribe(let number, let filters):
            if filters != [.control] { fault("subscribes to \(filters)") }
            for filter in filters { tell(.mqtt(connection: number, .subscribed(filter)), number) }
        case .publish(let number, let message, let points): publish(number, Message(number: message, points: points))
        case .requestPage(let feed, let after, let limit):
            let page = outbox.page(feed, after: after, limit: limit)
            tell(.page(feed, page.points, hasMore: page.hasMore), nil)
        case .count(let feed, let newest, let ids):
            let standing = outbox.standing(feed, newest: newest, among: ids)
            tell(.counted(feed, waiting: standing.count, gone: standing.gone), nil)
        case .confirm(let ids):
            for lie in ids where !arrivedIDs.contains(lie) { fault("point \(lie) is confirmed and not there") }
            outbox.confirm(ids)
        case .markDoubtful(let ids): marked.formUnion(ids)
        case .doubt(let count): doubts += count
        case .refuse(let ids, _): fault("\(ids.count) points are refused")
        case .post, .lookUp, .delete, .readThrottle: fault("REST is used")
        case .use, .grant, .deny, .report, .stretch, .feedIsMissing: break
        }
    }

    private mutating func tell(_ event: PublisherEvent, _ connection: Int?) {
        queue.plan(now + dice.seconds(0.001...0.05), .tell(life: life, connection: connection, event))
    }

    private mutating func connect(_ number: Int) {
        guard isReachable, !dice.chance(breaks) else {
            let event = PublisherEvent.mqtt(connection: number, .ended(.failed(.refused)))
            return queue.plan(now + 0.01, .tell(life: life, connection: nil, event))
        }
        connection = number
        tell(.mqtt(connection: number, .connected), number)
    }

    private mutating func publish(_ number: Int, _ message: Message) {
        if !outbox.noteSending(message.points).isEmpty { fault("a point is sent that has left the outbox") }
        // An earlier message of the same actions may have broken the connection.
        guard number == connection else { return }
        underWay[message.number] = message
        if underWay.count > inFlight { fault("\(underWay.count) messages under way") }
        let points = message.points
        if points.isEmpty || points.count > perMessage { fault("a message of \(points.count) points") }
        if Set(points.map(\.point.feed)).count > 1 { fault("a message for two feeds") }
        if zip(points, points.dropFirst()).contains(where: { $0.id >= $1.id }) { fault("a message out of order") }
        if let plan = settings.plan {
            sent.append((now, points.count))
            sent.removeAll { $0.at <= now - 61.999 }
            if sent.reduce(0, { $0 + $1.count }) > plan { fault("more than \(plan) points in 62 s") }
        }
        if wire.isEmpty, !isFrozen {
            queue.plan(now + dice.seconds(0.001...0.05), .arrive(connection: number))
        }
        wire.append(message)
        largestBurst = max(largestBurst, underWay.count)
    }
}
