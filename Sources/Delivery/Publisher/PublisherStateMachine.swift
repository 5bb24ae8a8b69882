internal import DataPoints
public import Diagnostics

/// Decides what is sent when and over which link, and when a point has arrived.
///
/// A value without clock, lock or I/O: events in, actions out, to be done in their order. Whoever owns it hands in
/// `.tick` when `deadline` has come, answers each `connect` with one `ended` and each request with one `answered`, and
/// hands in nothing of a connection before the action that caused it was taken up. It keeps to these rules:
///
/// - A point is confirmed by its echo on the connection that it went out by, by REST, or (plain broker) by PUBACK.
/// - A feed has at most one unconfirmed MQTT point, and never something under way on both links.
/// - A text goes by MQTT only when no other echo with the same text can still come; else by REST.
/// - What may have arrived is looked up before it is sent again; meanwhile nothing of that feed goes by REST.
/// - Live points go by MQTT while they are younger than `liveWithin`; what is older goes by REST with its own time, and
///   with it the live points of that feed, until nothing old is left.
/// - Only boot-time instants count. The service's wall clock is known from its `Date` header, never from ours.
///
/// It holds a bounded window of points: at most a page of old and 32 fresh ones a feed. All others stay in the outbox.
public struct PublisherStateMachine: Sendable {
    /// How it behaves.
    public internal(set) var settings: PublisherSettings
    var memory: PublisherMemory
    var isMemoryChanged = true
    var isStarted = false

    var now = BootInstant(nanoseconds: 0)
    var actions: [PublisherAction] = []
    var nextNumber = 1
    var random: any RandomNumberGenerator & Sendable

    // Links.
    var mqtt = MQTTSide()
    var rest = RESTSide()
    var policy: ReconnectPolicy
    /// Whether REST carries what is live.
    var isFallback = false
    var used: PublisherLink?
    /// The service's clock minus the boot clock, never too late.
    var serviceOffset: Duration?

    // Feeds.
    var lanes: [Lane] = []
    var laneOf: [FeedKey: Int] = [:]
    /// The newest point that the outbox had when the program began.
    var newestAtStart = 0
    var turn = 0
    var plain = PlainSide()

    // Slowing down.
    var stretch = IntervalStretch(rules: [], allowed: 0)
    var stretchKey: StretchKey?
    var hasLongBacklog = false
    /// Points that may be on the service twice, so far.
    public internal(set) var doubts = 0

    struct StretchKey: Equatable {
        var rules: [RuleDemand]
        var allowed: Int
    }

    /// Makes a publisher that goes on from `memory` at `now`; `bootID` tells whether its times are of this boot.
    public init(
        settings: PublisherSettings,
        memory: PublisherMemory? = nil,
        bootID: String = BootID.current,
        at now: BootInstant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.settings = settings
        self.random = random
        self.now = now
        policy = ReconnectPolicy(settings.isPlain ? .plainBroker : .adafruitIO, random: random)
        self.memory =
            memory
            ?? PublisherMemory(
                bootID: bootID,
                writtenAt: now,
                budget: AccountBudget(plan: nil, share: 1, backlogShare: 0)
            )
        // Without a boot id nothing tells one boot from the next.
        let isNewBoot = self.memory.bootID != bootID || bootID.isEmpty || self.memory.writtenAt > now
        self.memory.budget.restart(at: now, isNewBoot: isNewBoot)
        self.memory.holds.restart(at: now, writtenAt: self.memory.writtenAt, isNewBoot: isNewBoot)
        if isNewBoot { self.memory.lastWrite = self.memory.lastWrite.map { _ in now } }
        self.memory.bootID = bootID
        self.memory.writtenAt = now
        applySettings()
        for (_, flight) in self.memory.flights where !settings.isPlain {
            guard let feed = FeedKey(flight.feed) else { continue }
            let index = lane(for: feed)
            lanes[index].texts.sent(flight.text, until: SentTexts.never, at: now)
        }
    }

    /// Takes in what happened at `now`; returns what is to be done, in order.
    public mutating func handle(_ event: PublisherEvent, at now: BootInstant) -> [PublisherAction] {
        self.now = max(self.now, now)
        actions = []
        switch event {
        case .start(let waiting, let newest): start(waiting, newest)
        case .configuration(let settings): configure(settings)
        case .keyChanged: keyChanged()
        case .mqtt(let connection, let what):
            if connection == mqtt.connection, mqtt.phase.isOnWay { happened(what) }
        case .answered(let request, let outcome): answered(request, outcome)
        case .ownAnswered(let outcome): learn(from: outcome)
        case .serviceTime(let time): serviceTold(time)
        case .accepted(let points): settings.isPlain ? acceptedPlainly(points) : accepted(points)
        case .more(let feed, let count): more(feed, count)
        case .page(let feed, let points, let hasMore):
            if settings.isPlain {
                pagedPlainly(feed, points, hasMore: hasMore)
            } else {
                paged(feed, points, hasMore: hasMore)
            }
        case .changed(let feeds):
            for feed in feeds { settings.isPlain ? countPlainly(feed) : count(lane(for: feed)) }
        case .counted(let feed, let waiting, let gone):
            if settings.isPlain {
                plain.lanes[plain.lane(for: feed)].counted(waiting: waiting, gone: Set(gone))
            } else {
                counted(feed, waiting: waiting, gone: gone)
            }
        case .gone(let feed, let ids):
            settings.isPlain ? plain.lanes[plain.lane(for: feed)].remove(Set(ids)) : gone(feed, ids)
        case .feedReady(let feed):
            let index = lane(for: feed)
            lanes[index].heldUntil = nil
            lanes[index].isAbsent = false
        case .feedUnknown(let feed):
            lanes[lane(for: feed)].isAbsent = true
        case .ask(let request): asked(request)
        case .tick: break
        }
        if isStarted { settle() }
        if isMemoryChanged {
            isMemoryChanged = false
            memory.writtenAt = self.now
            actions.insert(.remember(memory), at: 0)
        }
        return actions
    }

    /// Does all that is due.
    private mutating func settle() {
        _ = memory.budget.advance(to: now)
        for scope in memory.holds.advance(to: now) { holdEnded(scope) }
        connectIfDue()
        subscribeMore()
        chooseLink()
        readThrottleIfDue()
        for index in lanes.indices { tend(index) }
        if settings.isPlain { tendPlainly() } else { send() }
        adaptIntervals()
    }

    private mutating func start(_ waiting: [FeedKey: Int], _ newest: Int) {
        isStarted = true
        mqtt.nextTry = now
        mqtt.downSince = now
        guard !settings.isPlain else {
            for (feed, count) in waiting where count > 0 { more(feed, count) }
            return
        }
        let quiet = memory.lastWrite.map { $0.advanced(by: settings.settle + SentTexts.slack) }
        for rule in settings.rules { _ = lane(for: rule.feed) }
        for (feed, count) in waiting.sorted(by: { $0.key < $1.key }) where count > 0 {
            let index = lane(for: feed)
            lanes[index].waiting = count
            lanes[index].hasMore = true
        }
        newestAtStart = newest
        for index in lanes.indices { lanes[index].newest = newest }
        if let quiet, quiet > now {
            for index in lanes.indices { lanes[index].texts.doubtAll(until: quiet) }
        }
    }

    private mutating func configure(_ settings: PublisherSettings) {
        self.settings = settings
        applySettings()
        if !settings.isPlain { for rule in settings.rules { _ = lane(for: rule.feed) } }
        wantSubscriptions()
    }

    private mutating func applySettings() {
        let told = rest.toldPlan ?? memory.budget.plan
        memory.budget.plan = settings.isPlain ? settings.plan : settings.plan ?? told ?? 30
        memory.budget.share = min(max(settings.share, 0), 1)
        memory.budget.backlogShare = min(max(settings.backlogShare, 0), 1)
        isMemoryChanged = true
    }

    /// The lane of that feed, made when it is new.
    mutating func lane(for feed: FeedKey) -> Int {
        if let index = laneOf[feed] { return index }
        lanes.append(Lane(feed: feed, batchLimit: settings.largestBatch))
        lanes[lanes.count - 1].newest = newestAtStart
        laneOf[feed] = lanes.count - 1
        return lanes.count - 1
    }

    mutating func number() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    func isHeld(_ scope: HoldOffs.Scope) -> Bool { memory.holds.current(scope, at: now) != nil }

    /// Whether anything may be used at all.
    var isOpen: Bool { !isHeld(.account) && !isHeld(.key) && !rest.isGateShut }

    mutating func hold(_ scope: HoldOffs.Scope, until: BootInstant, _ reason: LinkReason) {
        memory.holds.hold(scope, until: until, reason)
        isMemoryChanged = true
    }

    mutating func holdAccount(for duration: Duration, _ reason: LinkReason) {
        // A second more than we were told: clocks differ, and what comes too early makes it longer.
        let until = now.advanced(by: duration + .seconds(1))
        let before = memory.holds.current(.account, at: now)
        hold(.account, until: until, reason)
        if before.map({ $0.until < until }) ?? true { actions.append(.report(.accountIsHeld(reason, until: until))) }
    }

    private mutating func holdEnded(_ scope: HoldOffs.Scope) {
        isMemoryChanged = true
        switch scope {
        case .account:
            rest.wantsThrottle = !settings.isPlain
            // Unless REST cannot be used, `/throttle` is read before anything else is done.
            rest.isGateShut = !settings.isPlain && !isHeld(.rest)
        case .key:
            rest.isKeyKnown = false
            if mqtt.phase == .idle { mqtt.nextTry = now }
        case .mqtt, .rest: break
        }
    }
}
