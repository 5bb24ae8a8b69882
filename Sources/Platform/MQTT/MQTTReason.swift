/// Why something failed, or why a connection ended.
public enum MQTTReason: Sendable, Equatable {
    /// The broker answered CONNECT with a refusal.
    case refused(MQTTRefusal)
    /// No encrypted connection.
    case tls(MQTTTLSFailure)
    /// The host's name has no address, or nobody could be asked; the resolver's sentence.
    case nameNotFound(String)
    /// Nobody listens there.
    case connectionRefused
    /// There is no way to that host.
    case unreachable
    /// No answer in time.
    case timedOut
    /// The peer fell silent and did not answer a ping.
    case keepAlive
    /// The peer closed the connection. In MQTT 3.1.1 this is also all one sees when another client uses this id.
    case closedByPeer
    /// Another client has connected with this id (MQTT 5 only).
    case takenOver
    /// The peer said goodbye with this code (MQTT 5 only).
    case disconnectedByPeer(code: UInt8)
    /// We said goodbye.
    case disconnected
    /// The task was cancelled.
    case cancelled
    /// The connection had ended before.
    case notConnected
    /// The broker does not allow this subscription; 128 in MQTT 3.1.1.
    case subscriptionRefused(code: UInt8)
    /// The broker does not want this message (MQTT 5 only).
    case publishRefused(code: UInt8)
    /// The message is larger than MQTT or the broker allows.
    case payloadTooLarge
    /// The topic, or the filter, is not one.
    case invalidTopic(String)
    /// The broker does not offer this quality of service (MQTT 5 only).
    case qosNotSupported
    /// The configuration cannot work; what is wrong with it.
    case invalidConfiguration(String)
    /// The peer does not keep to MQTT.
    case protocolViolation
    /// The operating system's error number.
    case system(Int32)
    /// libmosquitto's code for something that should not happen.
    case library(Int32)
}

/// Why a connection ended.
public typealias MQTTEndReason = MQTTReason

extension MQTTReason {
    /// Whether the same attempt may succeed later with nothing changed on our side.
    public var isRetriable: Bool {
        switch self {
        case .refused(let refusal): refusal.isRetriable
        case .tls(let failure): failure.isRetriable
        case .nameNotFound, .connectionRefused, .unreachable, .timedOut, .keepAlive, .closedByPeer, .takenOver,
            .disconnectedByPeer, .disconnected, .cancelled, .notConnected, .protocolViolation, .system, .library:
            true
        case .subscriptionRefused, .publishRefused, .payloadTooLarge, .invalidTopic, .qosNotSupported,
            .invalidConfiguration:
            false
        }
    }
}

extension MQTTReason: CustomStringConvertible {
    /// The reason in words that are safe to log.
    public var description: String {
        switch self {
        case .refused(let refusal): "the broker refused the log-in: \(refusal)"
        case .tls(let failure): "\(failure)"
        case .nameNotFound(let detail): "the host's name could not be resolved (\(detail))"
        case .connectionRefused: "nobody listens there"
        case .unreachable: "the host cannot be reached"
        case .timedOut: "there was no answer in time"
        case .keepAlive: "the broker fell silent"
        case .closedByPeer: "the broker closed the connection"
        case .takenOver: "another client connected with the same id"
        case .disconnectedByPeer(let code): "the broker said goodbye (code \(code))"
        case .disconnected: "the connection was closed as asked"
        case .cancelled: "it was cancelled"
        case .notConnected: "the connection has ended"
        case .subscriptionRefused(let code): "the broker does not allow this subscription (code \(code))"
        case .publishRefused(let code): "the broker does not accept this message (code \(code))"
        case .payloadTooLarge: "the message is too large"
        case .invalidTopic(let topic): "'\(topic)' is not a valid topic"
        case .qosNotSupported: "the broker does not offer this quality of service"
        case .invalidConfiguration(let problem): problem
        case .protocolViolation: "the broker does not keep to the protocol"
        case .system(let number): "the system says: \(systemErrorText(number)) (\(number))"
        case .library(let code): "libmosquitto says: \(mosquittoErrorText(code)) (\(code))"
        }
    }
}
