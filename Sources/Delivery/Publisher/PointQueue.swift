public import DataPoints
public import Diagnostics

/// What became of data points so far. Always: accepted = confirmed + refused + evicted + pending.
public struct PointCounts: Sendable, Hashable {
    /// Taken into the queue.
    public var accepted = 0
    /// Acknowledged by the service.
    public var confirmed = 0
    /// Refused for good.
    public var refused = 0
    /// Dropped because the queue was full.
    public var evicted = 0
    /// Sent twice, perhaps.
    public var doubt = 0

    /// Still in the queue.
    public var pending: Int { accepted - confirmed - refused - evicted }

    /// Nothing yet.
    public init() {}
}

/// Where data points wait between the rules and a link. Rules never wait for it.
public protocol PointQueue: Sendable {
    /// Takes points. Never waits.
    func append(_ points: [DataPoint])

    /// The oldest waiting point, left in the queue; waits for one. Throws `CancellationError`.
    func first() async throws -> QueuedPoint

    /// The point has arrived: it leaves the queue.
    func confirm(_ id: Int)

    /// The point waited too long to be sent truthfully: it leaves the queue.
    func evict(_ id: Int)

    /// The service will never take this point: it leaves the queue.
    func refuse(_ id: Int, reason: String)

    /// What became of all points so far.
    var counts: PointCounts { get }
}

/// A data point in a queue.
public struct QueuedPoint: Sendable, Hashable {
    /// Increasing, never given twice by one queue.
    public let id: Int
    /// The point itself.
    public let point: DataPoint
    /// When it was taken, on the boot-time clock.
    public let queuedAt: BootInstant
}
