/// What failed, why, and whether it may have happened all the same.
public struct MQTTError: Error, Sendable, Equatable {
    /// Why.
    public let reason: MQTTReason
    /// What was being done.
    public let action: String
    /// Whether it may have happened: it reached the library, and no answer came. Sending again may double it.
    public let isUnknown: Bool

    /// Makes an error.
    public init(_ reason: MQTTReason, while action: String, isUnknown: Bool = false) {
        self.reason = reason
        self.action = action
        self.isUnknown = isUnknown
    }

    /// Whether the same attempt may succeed later with nothing changed on our side.
    public var isRetriable: Bool { reason.isRetriable }
}

extension MQTTError: CustomStringConvertible {
    /// One sentence, safe to log.
    public var description: String {
        let doubt = isUnknown ? " It may have reached the broker." : ""
        return "MQTT failed while \(action): \(reason).\(doubt)"
    }
}
