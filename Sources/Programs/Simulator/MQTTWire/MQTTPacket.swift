/// A packet that a client sends, of MQTT 3.1.1 (and 3.1, whose packets are the same).
enum MQTTPacket: Sendable, Hashable {
    case connect(ConnectPacket)
    case publish(PublishPacket)
    case puback(UInt16)
    case pubrec(UInt16)
    case pubrel(UInt16)
    case pubcomp(UInt16)
    case subscribe(id: UInt16, filters: [SubscribeFilter])
    case unsubscribe(id: UInt16, filters: [String])
    case pingreq
    case disconnect
}

/// What a client says about itself.
struct ConnectPacket: Sendable, Hashable {
    struct Will: Sendable, Hashable {
        var topic: String
        var payload: [UInt8]
        var qos: UInt8
    }

    var clientID: String
    var isClean: Bool
    /// Seconds; 0 is off.
    var keepAlive: UInt16
    var user: String?
    var password: [UInt8]?
    var will: Will?
}

/// A message.
struct PublishPacket: Sendable, Hashable {
    var topic: String
    var payload: [UInt8]
    var qos: UInt8
    var isRetained = false
    var isDuplicate = false
    /// 0 when the QoS is 0.
    var id: UInt16 = 0
}

/// A wish to receive.
struct SubscribeFilter: Sendable, Hashable {
    var filter: String
    var qos: UInt8
}

/// Why a connection must be closed: what the client sent is not MQTT 3.1.1.
enum MQTTViolation: Error, Sendable, Hashable {
    /// A protocol or a version that is not spoken here; answered with CONNACK 1.
    case wrongProtocol
    /// The packet is larger than what is taken.
    case tooLarge
    /// Anything else; the words are for the log.
    case malformed(String)
}
