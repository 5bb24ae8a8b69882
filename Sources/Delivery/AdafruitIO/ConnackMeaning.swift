/// What Adafruit IO's answer to a CONNECT means. Codes 6 and 7 are its own, beyond MQTT 3.1.1.
public enum ConnackMeaning: UInt8, Sendable, CaseIterable {
    /// Connected.
    case accepted = 0
    /// The protocol's version is not taken.
    case wrongProtocol = 1
    /// The client id is not taken.
    case identifierRejected = 2
    /// The service is not available now.
    case unavailable = 3
    /// The user name or the password has a wrong form.
    case badCredentials = 4
    /// The user name and the key do not belong together.
    case unauthorized = 5
    /// Too many attempts to connect.
    case throttled = 6
    /// The account is banned for some time.
    case banned = 7

    /// What a client does after the answer.
    public enum Remedy: Sendable, Hashable {
        /// Go on.
        case proceed
        /// Stop until the configuration changes.
        case stop
        /// Stop both links until the key changes.
        case checkKey
        /// Wait before connecting again over MQTT.
        case waitOnLink(Duration)
        /// Wait before anything is sent to the account, over whatever link.
        case waitOnAccount(Duration)
    }

    /// What a client does after this answer.
    public var remedy: Remedy {
        switch self {
        case .accepted: .proceed
        case .wrongProtocol, .identifierRejected: .stop
        case .badCredentials, .unauthorized: .checkKey
        case .unavailable, .throttled: .waitOnLink(.seconds(60))
        case .banned: .waitOnAccount(.seconds(60))
        }
    }
}

extension ConnackMeaning: CustomStringConvertible {
    /// The meaning in words.
    public var description: String {
        switch self {
        case .accepted: "connected"
        case .wrongProtocol: "the service does not take this version of MQTT"
        case .identifierRejected: "the service does not take this client id"
        case .unavailable: "the service is not available now"
        case .badCredentials: "the user name or the key has a wrong form"
        case .unauthorized: "the user name and the key do not belong together"
        case .throttled: "too many attempts to connect"
        case .banned: "the account is banned for some time"
        }
    }
}
