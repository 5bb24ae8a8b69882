internal import DataPoints
internal import Diagnostics

/// What waits for the next commit, bounded by bytes, and the counts that are shown. A value without lock or clock.
struct OutboxBuffer {
    /// Points that came together.
    struct Batch {
        let points: [DataPoint]
        let priority: UInt8
        let wall: Timestamp
        let boot: BootInstant
        /// Whether the wall clock was right.
        let isTimed: Bool
        /// The right wall time less the boot-time clock, where it is known although the wall clock is not right.
        let rightOffset: Int64?
    }

    /// What happened to points that were handed out.
    enum Change {
        case sending([Int64])
        case confirmed([Int64])
        case refused([Int64], reason: String)
        case state([Int64], PointState)
        case evicted([Int64], EvictionCause)
    }

    enum Entry {
        case points(Batch)
        case change(Change)
    }

    struct Item {
        let entry: Entry
        let bytes: Int
        /// Whose outcome somebody waits for.
        let ticket: Int?
    }

    enum Action {
        case nothing
        /// The first since the last commit: a commit is to follow.
        case wake
        /// So much waits that it should be written at once.
        case commitNow
    }

    struct Drop: Hashable {
        let lane: Lane.Key
        let cause: EvictionCause
    }

    private let limit: Int
    private(set) var items: [Item] = []
    /// Bytes here and in the hands of a commit that has not ended.
    private var bytes = 0
    /// Points here and in the hands of a commit that has not ended.
    private var buffered: [FeedKey: Int] = [:]
    /// Points that were never written and whose counts are not yet in the file.
    private(set) var drops: [Drop: Int] = [:]
    private var isAwake = false
    private var isUrgent = false
    private var nextTicket = 1
    private var lanes: [Lane] = []
    private(set) var hasChanges = false
    var isTimed = true
    /// The right wall time less the boot-time clock, since somebody has said that the clock is right.
    private(set) var rightOffset: Int64?
    /// The wall time less the boot-time clock as it was seen last, and before the clock was last set.
    private var lastOffset: Int64?
    private var offsetBefore: Int64?
    /// With it the points of this boot that wait for their time are to be put right.
    var offsetToFixUp: Int64?
    /// Whether points are dropped at once because the disk is full.
    var isDiskFull = false
    var isClosed = false
    init(limit: Int) {
        self.limit = limit
    }

    /// Takes points, or says why not; who waits keeps them then, else they are counted as dropped.
    mutating func append(_ batch: Batch, waits: Bool) -> Result<(action: Action, ticket: Int?), OutboxError.NotTaken> {
        let cost = batch.points.reduce(0) { $0 + 120 + $1.feed.text.utf8.count + $1.value.utf8.count }
        let problem: OutboxError.NotTaken? =
            isClosed ? .closed : isDiskFull ? .diskFull : bytes + cost > limit ? .bufferFull : nil
        if let problem {
            if !waits, problem != .closed {
                for point in batch.points {
                    drop(Lane.Key(feed: point.feed, priority: batch.priority), problem == .diskFull ? .disk : .buffer)
                }
            }
            return .failure(problem)
        }
        bytes += cost
        for point in batch.points { buffered[point.feed, default: 0] += 1 }
        let ticket = waits ? makeTicket() : nil
        items.append(Item(entry: .points(batch), bytes: cost, ticket: ticket))
        if bytes > limit / 4, !isUrgent {
            isUrgent = true
            isAwake = true
            return .success((.commitNow, ticket))
        }
        return .success((wakeOnce(), ticket))
    }

    /// Looks at the clock before points are taken: it may have been set since.
    ///
    /// Says whether times that it gives now are right. Where they are not, `rightOffset` may still tell the right ones.
    mutating func look(_ wall: Timestamp, _ boot: BootInstant) -> Bool {
        let offset = wall.nanoseconds &- boot.nanoseconds
        if let lastOffset, isStep(offset, lastOffset) { offsetBefore = lastOffset }
        lastOffset = offset
        guard isTimed, let rightOffset else { return isTimed }
        guard !isStep(offset, rightOffset) else { return false }
        // A clock that is steered takes its time with it.
        self.rightOffset = offset
        return true
    }

    private func isStep(_ one: Int64, _ other: Int64) -> Bool { (one &- other).magnitude > 2_000_000_000 }

    /// The point, its time in the terms of the clock as it stands: one from before a step comes a moment after it.
    func corrected(_ point: DataPoint, _ wall: Timestamp, _ boot: BootInstant) -> DataPoint {
        guard let offsetBefore, !Self.isNear(point.createdAt, wall) else { return point }
        let before = Timestamp(nanoseconds: boot.nanoseconds &+ offsetBefore)
        guard Self.isNear(point.createdAt, before) else { return point }
        var point = point
        point.createdAt = wall - (before - point.createdAt)
        return point
    }

    /// Whether a time may be one that a clock which stands at `wall` gave; one from elsewhere is far from it.
    static func isNear(_ time: Timestamp, _ wall: Timestamp) -> Bool {
        let lag = wall - time
        return lag > .seconds(-3600) && lag < .seconds(3600)
    }

    /// Takes something that happened; there is always room for it, since only points that were handed out change.
    mutating func append(_ change: Change, waits: Bool) -> (action: Action, ticket: Int?)? {
        guard !isClosed else { return nil }
        hasChanges = true
        let ticket = waits ? makeTicket() : nil
        items.append(Item(entry: .change(change), bytes: 0, ticket: ticket))
        return (wakeOnce(), ticket)
    }

    mutating func setClock(isRight: Bool, offset: Int64) -> Action {
        isTimed = isRight
        // While the wall clock is wrong, the boot-time clock goes on from where it was right.
        guard isRight else { return .nothing }
        rightOffset = offset
        offsetToFixUp = offset
        return wakeOnce()
    }

    private mutating func wakeOnce() -> Action {
        guard !isAwake else { return .nothing }
        isAwake = true
        return .wake
    }

    mutating func drop(_ lane: Lane.Key, _ cause: EvictionCause) {
        drops[Drop(lane: lane, cause: cause), default: 0] += 1
    }

    /// Hands everything over to a commit, which ends in `committed` or `failed`.
    mutating func take() -> (items: [Item], drops: [Drop: Int]) {
        let taken = (items, drops)
        items = []
        isAwake = false
        isUrgent = false
        hasChanges = false
        return taken
    }

    /// Items and drops that were taken are in the file, whose counts are now `lanes`.
    mutating func committed(_ written: [Item] = [], drops counted: [Drop: Int] = [:], lanes: [Lane]) {
        self.lanes = lanes
        for (drop, count) in counted {
            drops[drop, default: 0] -= count
            if drops[drop] == 0 { drops[drop] = nil }
        }
        for item in written { release(item) }
    }

    /// The file's counts are now `lanes`, for another reason than what was taken.
    mutating func changed(lanes: [Lane]) {
        self.lanes = lanes
    }

    /// Gives up points that were taken: they count as dropped.
    mutating func giveUp(_ items: [Item], _ cause: EvictionCause) {
        for item in items {
            release(item)
            guard case .points(let batch) = item.entry, item.ticket == nil else { continue }
            for point in batch.points { drop(Lane.Key(feed: point.feed, priority: batch.priority), cause) }
        }
    }

    private mutating func release(_ item: Item) {
        bytes -= item.bytes
        guard case .points(let batch) = item.entry else { return }
        for point in batch.points {
            guard let count = buffered[point.feed] else { continue }
            buffered[point.feed] = count == 1 ? nil : count - 1
        }
    }

    /// The counts as they are now.
    var statistics: OutboxStatistics {
        var statistics = OutboxStatistics(lanes: lanes)
        for (feed, count) in buffered {
            statistics.change(feed) { counts in
                counts.accepted += count
                counts.buffered += count
            }
        }
        for (drop, count) in drops where count != 0 {
            statistics.change(drop.lane.feed) { counts in
                counts.accepted += count
                counts.evictedBy[drop.cause, default: 0] += count
            }
        }
        return statistics
    }

    private mutating func makeTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }
}

extension OutboxError {
    /// Why points were not taken into the buffer.
    enum NotTaken: Error {
        case closed
        case diskFull
        case bufferFull
    }
}
