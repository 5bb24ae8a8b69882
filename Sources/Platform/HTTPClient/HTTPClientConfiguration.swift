/// How a client connects and how long it waits.
public struct HTTPClientConfiguration: Sendable {
    /// Which proxy is used.
    public enum Proxy: Sendable, Hashable {
        /// None, whatever the environment says.
        case none
        /// What `http_proxy`, `https_proxy` and `no_proxy` say.
        case environment
        /// This one: `http://proxy:3128`.
        case url(String)
    }

    /// Time for name look-up, TCP and TLS together.
    public var connectTimeout: Duration = .seconds(10)
    /// Time for a whole request, connecting included.
    public var totalTimeout: Duration = .seconds(30)
    /// A transfer in which nothing moves for this long is given up; whole seconds, and at least five in effect.
    public var stallTimeout: Duration = .seconds(15)
    /// The largest body of a response, in bytes, once unpacked.
    public var largestResponse = 8 << 20
    /// Connections to one host at the same time; more requests wait.
    public var connectionsPerHost = 2
    /// Certificate authorities to believe, as a PEM file; nil means the machine's.
    public var caFile: String?
    /// Every request goes to this Unix socket, whatever host its URL names.
    public var unixSocket: String?
    /// Which proxy is used.
    public var proxy = Proxy.none
    /// What stands in `User-Agent`.
    public var userAgent = "feedbridge"

    /// The usual configuration.
    public init() {}
}
