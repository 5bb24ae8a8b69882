public import Diagnostics

/// What the service answered, and its clock.
public struct AdafruitIOReply<Value: Sendable>: Sendable {
    /// What was asked for.
    public let value: Value
    /// The service's clock when it answered, to the second: for judging the own one.
    public let date: Timestamp?

    /// Makes a reply; for trying code without a service.
    public init(_ value: Value, date: Timestamp? = nil) {
        self.value = value
        self.date = date
    }
}
