internal import DataPoints
internal import Diagnostics

/// What the publisher knows of one feed on a plain broker: a bounded window of its waiting points, the oldest first.
///
/// Every point that waits in the outbox is here, is under way, or has an id above `cursor` and comes with a page.
struct PlainLane: Sendable {
    let feed: FeedKey
    /// Whether the outbox holds points above `cursor`.
    private(set) var hasMore = false
    /// The id of the newest point that was here.
    private(set) var cursor = Int.min
    private(set) var isPaging = false
    /// Points that wait in the outbox or are under way.
    var waiting = 0

    private var points: [PublisherPoint] = []
    private var head = 0
    /// Whether points came while a page was being read: it may not hold them.
    private var isPageShort = false
    /// Points that left while a page was being read: it may hold them.
    private var gone: Set<Int> = []

    init(feed: FeedKey) {
        self.feed = feed
    }

    /// How many points are here.
    var count: Int { points.count - head }

    /// Takes in points that were just committed; what is beyond `limit` comes again with a page.
    mutating func accept(_ new: ArraySlice<PublisherPoint>, limit: Int) {
        waiting += new.count
        var returned: [PublisherPoint] = []
        for point in new {
            if point.id <= cursor {
                // It had left and was brought back.
                returned.append(point)
            } else if hasMore || count >= limit {
                comesWithPage()
            } else {
                points.append(point)
                cursor = point.id
            }
        }
        if !returned.isEmpty { putBack(returned) }
    }

    /// The outbox holds so many more points.
    mutating func accept(more count: Int) {
        waiting += count
        comesWithPage()
    }

    private mutating func comesWithPage() {
        hasMore = true
        if isPaging { isPageShort = true }
    }

    /// Begins to read the page after `cursor`.
    mutating func beginPage() {
        isPaging = true
        isPageShort = false
        gone = []
    }

    /// Takes in the page that was asked for; returns how many of its points were sent before.
    mutating func endPage(_ page: [PublisherPoint], hasMore: Bool) -> Int {
        guard isPaging else { return 0 }
        isPaging = false
        self.hasMore = hasMore || isPageShort
        var sentBefore = 0
        compact()
        for point in page where point.id > cursor {
            cursor = point.id
            guard !gone.contains(point.id) else { continue }
            points.append(point)
            if point.attempts > 0 { sentBefore += 1 }
        }
        gone = []
        return sentBefore
    }

    /// Takes the oldest points out, at most `most`.
    mutating func take(_ most: Int) -> [PublisherPoint] {
        let end = head + min(most, count)
        let taken = Array(points[head..<end])
        head = end
        if head >= 1024 || head == points.count { compact() }
        return taken
    }

    /// Puts points back that were taken, each at its place.
    mutating func putBack(_ back: [PublisherPoint]) {
        compact()
        points.append(contentsOf: back)
        points.sort { $0.id < $1.id }
    }

    /// These points have left the outbox unsent.
    mutating func remove(_ ids: Set<Int>) {
        waiting = max(0, waiting - ids.count)
        compact()
        points.removeAll { ids.contains($0.id) }
        if isPaging { gone.formUnion(ids) }
    }

    /// The points that are here.
    var ids: [Int] { points[head...].map(\.id) }

    /// The outbox has so many points, and some of those that were here have left it.
    mutating func counted(waiting: Int, gone: Set<Int>) {
        compact()
        points.removeAll { gone.contains($0.id) }
        if isPaging { self.gone.formUnion(gone) }
        self.waiting = max(waiting, points.count)
    }

    private mutating func compact() {
        guard head > 0 else { return }
        points.removeFirst(head)
        head = 0
    }
}

/// What is under way to a plain broker, and what waits for it.
struct PlainSide: Sendable {
    struct Message: Sendable {
        var lane: Int
        var points: [PublisherPoint]
    }

    var lanes: [PlainLane] = []
    private var laneOf: [FeedKey: Int] = [:]
    var underWay: [Int: Message] = [:]
    /// The feed whose turn it is.
    var turn = 0
    /// Whether the connection does not take messages any more: its end is on the way.
    var isBroken = false
    /// When the broker last acknowledged something, or the first of what is under way left.
    var heardAt: BootInstant?

    /// The place of that feed's lane, made when it is new.
    mutating func lane(for feed: FeedKey) -> Int {
        if let index = laneOf[feed] { return index }
        lanes.append(PlainLane(feed: feed))
        laneOf[feed] = lanes.count - 1
        return lanes.count - 1
    }

    /// Points that may be sent now.
    var ready: Int { lanes.reduce(0) { $0 + $1.count } }

    /// Points that wait and are not under way.
    var backlog: Int {
        lanes.reduce(0) { $0 + $1.waiting } - underWay.values.reduce(0) { $0 + $1.points.count }
    }
}
