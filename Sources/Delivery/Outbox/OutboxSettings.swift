public import SQLite

/// How an outbox works.
public struct OutboxSettings: Sendable, Hashable {
    /// What goes when there are as many bytes as there may be.
    public enum WhenFull: String, Sendable, Hashable, CaseIterable {
        /// Every second of the oldest points, again and again: what stays keeps the shape.
        case thin
        /// The oldest points.
        case dropOldest = "drop-oldest"
        /// The points that come.
        case dropNewest = "drop-newest"
    }

    /// The most bytes of the file and its log.
    public var maxBytes = 256 << 20
    /// A point older than this is not sent any more.
    public var maxAge: Duration = .seconds(29 * 86_400)
    /// What goes when there are as many bytes as there may be.
    public var whenFull = WhenFull.thin
    /// What a commit promises.
    public var durability = SQLiteConnection.Durability.full
    /// The longest time between a point and its commit.
    public var commitWithin: Duration = .milliseconds(50)
    /// The most memory for points that wait for the disk.
    public var bufferBytes = 4 << 20
    /// Bytes kept aside on the disk so that points can still leave when it is full.
    public var reserveBytes = 2 << 20
    /// The most dead letters that are kept; the oldest go first.
    public var maxDeadLetters = 10_000

    /// Makes the default settings.
    public init() {}
}
