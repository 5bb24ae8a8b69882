public import DataPoints
public import Diagnostics

/// A data point of the outbox, as the publisher handles it.
public struct PublisherPoint: Sendable, Hashable {
    /// Its id in the outbox: increasing, and in the order of the samples within a feed.
    public var id: Int
    /// What is sent.
    public var point: DataPoint
    /// The boot-time instant of `created_at`; nil when it was made before this boot, and so is not live.
    public var bornAt: BootInstant?
    /// How often it was sent already, to anywhere; greater than 0 after a crash means that it may have arrived.
    public var attempts: Int

    /// Makes a point.
    public init(id: Int, point: DataPoint, bornAt: BootInstant?, attempts: Int = 0) {
        self.id = id
        self.point = point
        self.bornAt = bornAt
        self.attempts = attempts
    }

    var text: String { point.value }
}

/// A data point as the service lists it.
public struct StoredPoint: Sendable, Hashable {
    /// The service's id of it.
    public var id: String
    /// Its value.
    public var text: String
    /// Its time, which the service may have cut to the second.
    public var createdAt: Timestamp

    /// Makes an entry.
    public init(id: String, text: String, createdAt: Timestamp) {
        self.id = id
        self.text = text
        self.createdAt = createdAt
    }
}
