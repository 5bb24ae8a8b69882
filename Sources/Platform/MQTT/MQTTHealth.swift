public import Diagnostics

/// How a connection is doing.
public struct MQTTHealth: Sendable, Equatable {
    /// Messages that wait for room in the window.
    public var waiting = 0
    /// Messages handed to the library that the broker has not acknowledged.
    public var inFlight = 0
    /// When the oldest of those was handed over: on a half-open link it gets old.
    public var oldestUnacknowledged: BootInstant?
    /// Messages acknowledged on this connection.
    public var acknowledged = 0
    /// Messages that came in.
    public var received = 0
    /// Messages that came in and found a subscription's buffer full, once for each such subscription.
    public var dropped = 0

    /// Everything at zero.
    public init() {}
}
