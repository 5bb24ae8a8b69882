/// The promise of a delivery.
public enum MQTTQoS: UInt8, Sendable, Comparable {
    /// Sent and forgotten.
    case atMostOnce = 0
    /// Acknowledged; may arrive twice.
    case atLeastOnce = 1
    /// Acknowledged in two steps; arrives once a connection.
    case exactlyOnce = 2

    /// Whether `left` promises less than `right`.
    public static func < (left: MQTTQoS, right: MQTTQoS) -> Bool { left.rawValue < right.rawValue }
}

/// A message that arrived.
public struct MQTTMessage: Sendable, Equatable {
    /// Where it was published.
    public var topic: String
    /// What it says.
    public var payload: [UInt8]
    /// The promise it was delivered with.
    public var qos: MQTTQoS
    /// Whether it was kept by the broker from before the subscription.
    public var retain: Bool
    /// Whether the broker says that it has sent it before.
    public var duplicate: Bool

    /// Makes a message.
    public init(
        topic: String,
        payload: [UInt8],
        qos: MQTTQoS = .atMostOnce,
        retain: Bool = false,
        duplicate: Bool = false
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.duplicate = duplicate
    }

    /// The payload as text; what is not UTF-8 becomes replacement characters.
    public var text: String { String(decoding: payload, as: UTF8.self) }
}

/// A message to send.
public struct MQTTPublication: Sendable {
    /// Where to.
    public var topic: String
    /// What.
    public var payload: [UInt8]
    /// With what promise.
    public var qos: MQTTQoS
    /// Whether the broker keeps it for later subscribers.
    public var retain: Bool

    /// Makes a message to send.
    public init(topic: String, payload: [UInt8], qos: MQTTQoS = .atLeastOnce, retain: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}
