public import DataPoints

/// A data point in the outbox.
public struct OutboxPoint: Sendable, Hashable, Identifiable {
    /// Increasing in the order of acceptance, never given twice.
    public let id: Int64
    /// The point itself.
    public let point: DataPoint
    /// Among points of different feeds the higher one goes first, and is evicted last.
    public let priority: UInt8
    /// How often it was handed to a link.
    public let attempts: Int
    /// Where it stands.
    public let state: PointState

    /// Makes a point as it stands in an outbox.
    public init(id: Int64, point: DataPoint, priority: UInt8, attempts: Int, state: PointState) {
        self.id = id
        self.point = point
        self.priority = priority
        self.attempts = attempts
        self.state = state
    }
}

/// A data point that will not be sent, and why.
public struct DeadLetter: Sendable, Hashable, Identifiable {
    /// The id that the point had.
    public let id: Int64
    /// The point itself.
    public let point: DataPoint
    /// How often it was handed to a link.
    public let attempts: Int
    /// Why it will not be sent.
    public let reason: String
}
