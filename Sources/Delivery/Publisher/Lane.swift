internal import DataPoints
internal import Diagnostics

/// What the publisher knows of one feed: a bounded window of its waiting points, and what is under way.
struct Lane: Sendable {
    /// A point whose fate is not known: it is looked up before it is sent again.
    struct Doubt: Sendable {
        var point: PublisherPoint
        /// How it left over MQTT, where the memory does not hold that any more.
        var flight: PublisherMemory.Flight?
        /// When the look-up may be made: by then the service shows what it has stored.
        var notBefore: BootInstant
    }

    /// What is under way; a feed never uses both links at once.
    enum Flight: Sendable {
        case mqtt(message: Int, PublisherPoint, at: BootInstant, isAcknowledged: Bool)
        case post(request: Int, [PublisherPoint])
    }

    /// A look-up that is under way: for points in doubt, or for second copies of points that were sent again.
    struct LookUp: Sendable {
        var request: Int
        var doubts: [Doubt]
        var isCheck: Bool
    }

    let feed: FeedKey
    /// Points that came just now, in order.
    var fresh: [PublisherPoint] = []
    /// The oldest waiting points, in order.
    var old: [PublisherPoint] = []
    /// Whether the outbox holds points of this feed above `cursor` that are not here.
    var hasMore = false
    var cursor = 0
    var isPaging = false
    /// The cursor of the page that is being read, and whether more was let go since.
    var pageFrom = 0
    var rewound = false
    /// Points that left for good while a page was being read: it may hold them.
    var finished: Set<Int> = []
    var flight: Flight?
    var doubts: [Doubt] = []
    /// How many points the next look-up may be about; halves when a page of the list could not hold the answer.
    var lookUpLimit = 100
    var lookUp: LookUp?
    /// Points that were sent again and stored: is there a second copy?
    var checks: [Doubt] = []
    /// Second copies to delete.
    var doubles: [StoredPoint] = []
    var deletion: Int?
    /// Points in the service's future, and when to try again.
    var parked: [(until: BootInstant, point: PublisherPoint)] = []
    /// What went by REST lately: the service's entries of those points are not of any other.
    var written: [PublisherPoint] = []
    /// How many points may go into the next batch; halves when one was refused.
    var batchLimit: Int
    var heldUntil: BootInstant?
    /// Whether the service may not have the feed yet: nothing is sent before `feedReady`.
    var isAbsent = false
    var texts = SentTexts()
    /// Somebody else writes this feed, as far as was seen until then; so exactly once cannot be promised.
    var othersUntil: BootInstant?
    /// Points that wait in the outbox.
    var waiting = 0
    /// The newest point that was counted in `waiting`.
    var newest = 0
    /// What has changed in `waiting` since the outbox was asked to count; nil while it is not asked.
    var counting: (came: Int, left: Int)?
    /// Whether it is to be asked again.
    var wantsCount = false

    init(feed: FeedKey, batchLimit: Int) {
        self.feed = feed
        self.batchLimit = batchLimit
    }

    /// Whether older points wait that MQTT may not carry.
    var hasBacklog: Bool { !old.isEmpty || hasMore || !doubts.isEmpty || lookUp?.isCheck == false }

    /// Whether it may be sent to at all.
    var isHeld: Bool { heldUntil != nil || isAbsent }

    /// Whether a point of it may be anywhere in this window.
    func holds(_ id: Int) -> Bool {
        if fresh.contains(where: { $0.id == id }) || old.contains(where: { $0.id == id }) { return true }
        if doubts.contains(where: { $0.point.id == id }) { return true }
        if parked.contains(where: { $0.point.id == id }) { return true }
        if lookUp?.isCheck == false, lookUp?.doubts.contains(where: { $0.point.id == id }) ?? false { return true }
        switch flight {
        case .mqtt(_, let point, _, _): return point.id == id
        case .post(_, let points): return points.contains { $0.id == id }
        case nil: return false
        }
    }

    /// The points in this window that are not under way.
    var resting: [Int] {
        (fresh + old + doubts.map(\.point) + parked.map(\.point)).map(\.id)
    }

    /// How many points this window holds in all.
    var held: Int {
        var count = fresh.count + old.count + doubts.count + parked.count
        if let lookUp, !lookUp.isCheck { count += lookUp.doubts.count }
        switch flight {
        case .mqtt: count += 1
        case .post(_, let points): count += points.count
        case nil: break
        }
        return count
    }

    /// Forgets points that rest in this window.
    mutating func drop(_ gone: Set<Int>) {
        fresh.removeAll { gone.contains($0.id) }
        old.removeAll { gone.contains($0.id) }
        doubts.removeAll { gone.contains($0.point.id) }
        parked.removeAll { gone.contains($0.point.id) }
        if isPaging { finished.formUnion(gone) }
    }

    /// Notes that so many points have left.
    mutating func left(_ count: Int) {
        waiting = max(0, waiting - count)
        counting?.left += count
    }

    /// Looks for points from the oldest on: some may be where nothing was left.
    mutating func rewind() {
        cursor = 0
        hasMore = true
        rewound = true
    }

    /// Puts points back among the old ones, in order, and keeps at most `most`.
    mutating func putBack(_ points: [PublisherPoint], most: Int) {
        guard !points.isEmpty else { return }
        old.append(contentsOf: points)
        old.sort { $0.id < $1.id }
        while old.count > most, let last = old.popLast() { letGo(last) }
    }

    /// Lets a point go from memory; it stays in the outbox and comes again with a page.
    mutating func letGo(_ point: PublisherPoint) {
        cursor = hasMore || isPaging ? min(cursor, point.id - 1) : point.id - 1
        hasMore = true
        rewound = true
    }
}
