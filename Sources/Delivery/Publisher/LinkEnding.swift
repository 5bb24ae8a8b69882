internal import MQTT

/// How one attempt or connection ended, in words and for the reconnect policy.
struct LinkEnding: Sendable {
    var kind: ReconnectPolicy.Ending
    var message: String

    init(_ error: MQTTError) {
        self.init(error.reason, message: "\(error)")
    }

    init(_ reason: MQTTEndReason, message: String? = nil) {
        self.message = message ?? "\(reason)"
        kind = LinkEnding.kind(reason)
    }

    private static func kind(_ reason: MQTTReason) -> ReconnectPolicy.Ending {
        switch reason {
        case .refused(let refusal):
            switch refusal.meaning {
            case .protocolVersion, .clientID: .final(.refused)
            case .serverUnavailable: .throttled(.refused)
            case .credentials, .notAuthorized: .keyRefused
            case .throttled: .throttled(.throttled)
            case .banned: .banned(nil)
            case .other: .failed(.refused)
            }
        case .tls(let failure):
            .failed(failure.kind == .notYetValid || failure.kind == .expired ? .clock : .tls)
        case .nameNotFound: .failed(.dns)
        case .connectionRefused, .unreachable: .failed(.refused)
        case .timedOut, .keepAlive: .failed(.keepAlive)
        case .invalidConfiguration, .invalidTopic, .qosNotSupported: .final(.refused)
        case .takenOver: .failed(.idInUse)
        default: .failed(.closed)
        }
    }
}
