public import DataPoints

/// What became of points. Always: accepted = confirmed + refused + evicted + pending.
public struct OutboxCounts: Sendable, Hashable {
    /// Taken by `append`.
    public var accepted = 0
    /// Known to have arrived.
    public var confirmed = 0
    /// In the dead letters, or once there.
    public var refused = 0
    /// Left unsent, by cause.
    public var evictedBy: [EvictionCause: Int] = [:]
    /// In the file, by state.
    public var states: [PointState: Int] = [:]
    /// Taken and not yet in the file.
    public var buffered = 0
    /// Sent again without knowing whether the first time had arrived: doubles, perhaps.
    public var doubt = 0
    /// Bytes of the points in the file, about.
    public var bytes = 0

    /// Left unsent, for whatever cause.
    public var evicted: Int { evictedBy.values.reduce(0, +) }
    /// Still to be sent.
    public var pending: Int { states.values.reduce(buffered, +) }
    /// Whether every point is accounted for.
    public var isBalanced: Bool { accepted == confirmed + refused + evicted + pending }

    /// Nothing yet.
    public init() {}

    mutating func add(_ tally: Tally) {
        accepted += Int(tally.accepted)
        confirmed += Int(tally.confirmed)
        refused += Int(tally.refused)
        doubt += Int(tally.doubt)
        bytes += Int(tally.bytes)
        for cause in EvictionCause.allCases where tally.evicted[cause.code] != 0 {
            evictedBy[cause, default: 0] += Int(tally.evicted[cause.code])
        }
        for state in PointState.allCases where tally.rows[state.code] != 0 {
            states[state, default: 0] += Int(tally.rows[state.code])
        }
    }
}

/// The counts of all points and of each feed, at one moment.
public struct OutboxStatistics: Sendable, Hashable {
    /// All feeds together.
    public var total = OutboxCounts()
    /// Each feed that ever had a point.
    public var feeds: [FeedKey: OutboxCounts] = [:]

    init(lanes: [Lane]) {
        for lane in lanes {
            total.add(lane.tally)
            feeds[lane.feed, default: OutboxCounts()].add(lane.tally)
        }
    }

    mutating func change(_ feed: FeedKey, _ body: (inout OutboxCounts) -> Void) {
        body(&total)
        body(&feeds[feed, default: OutboxCounts()])
    }
}
