internal import AdafruitIO
public import DataPoints
public import Diagnostics
internal import MQTT
public import Outbox

/// What delivery tells the bridge.
public enum DeliveryEvent: Sendable, Hashable {
    /// The switch uses this link from now on; nil: none works.
    case link(PublisherLink?)
    /// A value of the control feed that came over MQTT, and whether the broker had kept it.
    case control(String, retained: Bool)
    /// A value of one of the followed feeds that came over MQTT, our own included.
    case value(FeedKey, String)
    /// A feed that rules publish to is missing: create it, then say `feedIsReady`.
    case feedIsMissing(FeedKey)
    /// The service's clock minus ours, as one of its answers told.
    case clockOffset(Duration)
    /// Rules are to make points only so often; empty: as they are written.
    case stretch(IntervalStretch)
}

/// Does what the `PublisherStateMachine` decides, against MQTT, REST and the outbox.
///
/// One task runs `run()`; everything else may be called from anywhere. Events reach the machine one after the other, and
/// its actions are done in their order: what has to be on the disk is there before what depends on it.
public actor PublisherDriver {
    let outbox: OutboxStore
    let time: any TimeSource
    let log: Log
    private let keep: @Sendable (PublisherMemory) async -> Void

    var machine: PublisherStateMachine
    var access: PublisherAccess
    var connections: [Int: MQTTConnection] = [:]
    var newest: Int?
    /// The attempts that have not ended.
    var attempts: [Int: Task<Void, Never>] = [:]
    /// Connections that are ended because the outbox cannot be written.
    var unwritable: Set<Int> = []
    /// The last id of each feed that the machine was told of.
    var told: [FeedKey: Int64] = [:]
    /// The newest look at what was committed.
    var taking: Task<Void, Never>?
    /// Batches of messages on their way to a plain broker.
    var batches: [Int: Task<Void, Never>] = [:]
    var nextBatch = 1
    var payloads = PlainPayload()
    /// The link that was told of last, and the newest value of a plain broker's switch on this connection.
    var usedLink: PublisherLink?
    var switchValue: (text: String, retained: Bool)?
    /// The newest id in the outbox when `run()` began: what is older was counted then.
    var newestAtStart = Int64.min
    var outboxMarks: [FeedKey: OutboxMark] = [:]
    private var asks: [Int: CheckedContinuation<PublisherLink?, Never>] = [:]
    private var nextAsk = 1
    private var alarm: (deadline: BootInstant, task: Task<Void, Never>)?
    private let items: AsyncStream<PublisherEvent>
    let inbox: AsyncStream<PublisherEvent>.Continuation
    let eventSink: AsyncStream<DeliveryEvent>.Continuation

    /// What delivery tells the bridge, in order. One task reads it.
    public nonisolated let events: AsyncStream<DeliveryEvent>

    /// Makes a driver that has connected nothing yet.
    ///
    /// - Parameters:
    ///   - memory: what was kept last; nil on a first run.
    ///   - keep: keeps the memory durably, and returns when it is kept.
    public init(
        _ settings: PublisherSettings,
        access: PublisherAccess,
        outbox: OutboxStore,
        memory: PublisherMemory?,
        time: any TimeSource,
        log: Log,
        keep: @escaping @Sendable (PublisherMemory) async -> Void
    ) {
        self.access = access
        self.outbox = outbox
        self.time = time
        self.log = log
        self.keep = keep
        machine = PublisherStateMachine(settings: settings, memory: memory, at: time.boot())
        // What fills it is bounded: the machine allows few things under way, and subscriptions have bounded buffers.
        (items, inbox) = AsyncStream.makeStream()
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// Delivers until `stop()` is called or the task is cancelled; then says goodbye.
    public func run() async {
        await begin()
        let arrivals = Task { [outbox, weak self] in
            for await _ in outbox.arrivals { await self?.takeArrivals() }
        }
        let comparing = Task { [time, weak self] in
            while (try? await time.sleep(for: .seconds(60))) != nil { await self?.compareWithOutbox() }
        }
        for await event in items {
            await handle(event)
            if Task.isCancelled { break }
        }
        // Nobody is left to take anything in, or to be waited for.
        inbox.finish()
        arrivals.cancel()
        comparing.cancel()
        alarm?.task.cancel()
        for (_, ask) in asks { ask.resume(returning: nil) }
        asks = [:]
        await settleBatches()
        await sayGoodbye()
        newest = nil
        for (_, attempt) in attempts { attempt.cancel() }
        for (_, connection) in connections { await connection.disconnect() }
        eventSink.finish()
    }

    /// Ends `run()`.
    public nonisolated func stop() {
        inbox.finish()
    }

    /// Takes changed settings; `reconnect` when what a connection is made with has changed, too.
    public func apply(_ settings: PublisherSettings, access: PublisherAccess, reconnect: Bool) {
        self.access = access
        inbox.yield(.configuration(settings))
        if reconnect { inbox.yield(.keyChanged) }
    }

    /// The feed exists now.
    public nonisolated func feedIsReady(_ feed: FeedKey) {
        inbox.yield(.feedReady(feed))
    }

    /// The feed may not exist yet: nothing is sent to it before `feedIsReady`.
    public nonisolated func feedIsUnknown(_ feed: FeedKey) {
        inbox.yield(.feedUnknown(feed))
    }

    /// How delivery is doing.
    public var status: PublisherStatus { machine.status }

    private func begin() async {
        // What comes after the newest is told of as it comes; all others are counted here.
        newestAtStart = (try? await outbox.newestID()) ?? 0
        var waiting: [FeedKey: Int] = [:]
        let feeds = outbox.statistics.feeds
        for (feed, counts) in feeds where counts.pending > 0 {
            let standing = try? await outbox.standing(of: feed, upTo: newestAtStart, among: [])
            waiting[feed] = standing?.count ?? counts.pending
        }
        outboxMarks = feeds.mapValues { OutboxMark(evicted: $0.evicted, untimed: $0.states[.untimed] ?? 0) }
        await handle(.start(waiting: waiting, newest: Int(newestAtStart)))
        await takeArrivals()
    }

    private func handle(_ event: PublisherEvent) async {
        var messages: [PlainMessage] = []
        for action in machine.handle(event, at: time.boot()) {
            if machine.settings.isPlain, case .publish(let connection, let number, let points) = action {
                messages.append(PlainMessage(connection: connection, number: number, points: points))
            } else {
                await perform(action)
            }
        }
        if !messages.isEmpty { await publish(messages) }
        arm()
    }

    private func perform(_ action: PublisherAction) async {
        switch action {
        case .remember(let memory): await keep(memory)
        case .connect(let connection): connect(connection)
        case .disconnect(let connection): disconnect(connection)
        case .subscribe(let connection, let filters): subscribe(connection, filters)
        case .use(let link): use(link)
        case .publish(let connection, let message, let points): await publish(connection, message, points)
        case .post(let request, let feed, let points): await post(request, feed, points)
        case .lookUp(let request, let feed, let from, let to): lookUp(request, feed, from, to)
        case .delete(let request, let feed, let point): delete(request, feed, point)
        case .readThrottle(let request): readThrottle(request)
        case .requestPage(let feed, let id, let limit): await page(feed, after: id, limit: limit)
        case .count(let feed, let newest, let ids): await count(feed, newest: newest, among: ids)
        case .confirm(let ids): outbox.confirm(ids.map { Int64($0) })
        case .refuse(let ids, let reason):
            log.warning("\(ids.count) data points are refused for good: \(reason)")
            outbox.refuse(ids.map { Int64($0) }, reason: reason)
        case .markDoubtful(let ids): outbox.doubt(ids.map { Int64($0) })
        case .doubt(let count): log.warning("\(count) data points may arrive twice")
        case .feedIsMissing(let feed): eventSink.yield(.feedIsMissing(feed))
        case .stretch(let stretch): eventSink.yield(.stretch(stretch))
        case .grant(let id, let link): asks.removeValue(forKey: id)?.resume(returning: link)
        case .deny(let id, _): asks.removeValue(forKey: id)?.resume(returning: nil)
        case .report(let report): say(report)
        }
    }

    /// Asks whether something may be done now; nil: not now.
    func ask(_ kind: OwnRequest.Kind) async -> PublisherLink? {
        let id = nextAsk
        nextAsk += 1
        return await withCheckedContinuation { continuation in
            asks[id] = continuation
            if case .terminated = inbox.yield(.ask(OwnRequest(id: id, kind))) {
                asks.removeValue(forKey: id)?.resume(returning: nil)
            }
        }
    }

    /// Takes note of the service's clock.
    func told(serviceTime date: Timestamp) {
        inbox.yield(.serviceTime(date))
        eventSink.yield(.clockOffset(date - time.wall()))
    }

    /// Wakes the machine at its deadline.
    private func arm() {
        let deadline = machine.deadline
        guard deadline != alarm?.deadline else { return }
        alarm?.task.cancel()
        alarm = deadline.map { deadline in
            (
                deadline,
                Task { [time, inbox] in
                    guard (try? await time.sleep(until: deadline)) != nil else { return }
                    inbox.yield(.tick)
                }
            )
        }
    }
}
