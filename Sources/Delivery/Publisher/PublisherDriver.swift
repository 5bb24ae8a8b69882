internal import AdafruitIO
public import DataPoints
public import Diagnostics
internal import MQTT
public import Outbox

/// What delivery tells the bridge.
public enum DeliveryEvent: Sendable, Hashable {
    /// The switch uses this link from now on; nil: none works.
    case link(PublisherLink?)
    /// A value of the control feed that came over MQTT.
    case control(String)
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
    /// The last id of each feed that the machine was told of.
    var told: [FeedKey: Int64] = [:]
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
        let arrivals = Task { [outbox, weak self] in
            for await _ in outbox.arrivals { await self?.takeArrivals() }
        }
        await begin()
        for await event in items {
            await handle(event)
            if Task.isCancelled { break }
        }
        arrivals.cancel()
        alarm?.task.cancel()
        for (_, ask) in asks { ask.resume(returning: nil) }
        asks = [:]
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
        var waiting: [FeedKey: Int] = [:]
        for (feed, counts) in outbox.statistics.feeds where counts.pending > 0 { waiting[feed] = counts.pending }
        for point in (try? await outbox.newestOfEach()) ?? [] { told[point.point.feed] = point.id }
        await handle(.start(waiting: waiting))
    }

    private func handle(_ event: PublisherEvent) async {
        for action in machine.handle(event, at: time.boot()) { await perform(action) }
        arm()
    }

    private func perform(_ action: PublisherAction) async {
        switch action {
        case .remember(let memory): await keep(memory)
        case .connect(let connection): connect(connection)
        case .disconnect(let connection): disconnect(connection)
        case .subscribe(let connection, let filters): subscribe(connection, filters)
        case .use(let link): eventSink.yield(.link(link))
        case .publish(let connection, let message, let points): await publish(connection, message, points)
        case .post(let request, let feed, let points): await post(request, feed, points)
        case .lookUp(let request, let feed, let from, let to): lookUp(request, feed, from, to)
        case .delete(let request, let feed, let point): delete(request, feed, point)
        case .readThrottle(let request): readThrottle(request)
        case .requestPage(let feed, let id, let limit): await page(feed, after: id, limit: limit)
        case .confirm(let ids): outbox.confirm(ids.map { Int64($0) })
        case .refuse(let ids, let reason):
            log.warning("\(ids.count) data points are refused for good: \(reason)")
            outbox.refuse(ids.map { Int64($0) }, reason: reason)
        case .doubt(let count): log.warning("\(count) data points may stand on the service twice")
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
