/// What a server allows its clients.
public struct HTTPLimits: Sendable {
    /// The largest body of a request, in bytes; a larger one gets 413.
    public var bodyBytes = 8 << 20
    /// Memory for the headers of one request and one response, in bytes; larger ones get 431.
    public var headerBytes = 16 << 10
    /// How many connections may be open at the same time; more wait in the kernel.
    public var connections = 64
    /// A connection on which nothing moves for this long is closed; whole seconds.
    public var inactivity: Duration = .seconds(30)
    /// A request must have arrived whole after this long, however busily its bytes trickle in.
    public var requestTime: Duration = .seconds(60)

    /// The usual limits.
    public init() {}
}
