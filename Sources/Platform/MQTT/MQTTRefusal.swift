/// Why a broker answered CONNECT with a refusal.
public struct MQTTRefusal: Sendable, Equatable {
    /// What a refusal means, whichever version of the protocol said it.
    public enum Meaning: Sendable, Equatable {
        /// The broker does not speak this version.
        case protocolVersion
        /// The client's id is not acceptable.
        case clientID
        /// The service is down.
        case serverUnavailable
        /// The name or the password is wrong.
        case credentials
        /// The client is not allowed in.
        case notAuthorized
        /// Too many attempts: wait.
        case throttled
        /// Shut out for a time: wait.
        case banned
        /// Something else; the code says what.
        case other
    }

    /// The code in CONNACK: 1 to 7 in MQTT 3.1.1, 128 and above in MQTT 5.
    public let code: UInt8

    /// Wraps a code.
    public init(code: UInt8) {
        self.code = code
    }

    /// What it means. Codes 6 and 7 are no part of MQTT 3.1.1; Adafruit IO sends them.
    public var meaning: Meaning {
        switch code {
        case 1, 0x84: .protocolVersion
        case 2, 0x85: .clientID
        case 3, 0x88, 0x89: .serverUnavailable
        case 4, 0x86: .credentials
        case 5, 0x87: .notAuthorized
        case 6, 0x97, 0x9f: .throttled
        case 7, 0x8a: .banned
        default: .other
        }
    }

    /// Whether the same attempt may be welcome later.
    public var isRetriable: Bool {
        switch meaning {
        case .serverUnavailable, .throttled, .banned: true
        case .protocolVersion, .clientID, .credentials, .notAuthorized, .other: false
        }
    }
}

extension MQTTRefusal: CustomStringConvertible {
    /// The refusal in words, with its code.
    public var description: String {
        let words =
            switch meaning {
            case .protocolVersion: "it does not speak this version of MQTT"
            case .clientID: "the client id is not acceptable"
            case .serverUnavailable: "the service is not available"
            case .credentials: "the user name or the password is wrong"
            case .notAuthorized: "this user is not authorised"
            case .throttled: "too many attempts, wait before the next one"
            case .banned: "this account is shut out for a time, wait before the next attempt"
            case .other: "it did not say why"
            }
        return "\(words) (code \(code))"
    }
}
