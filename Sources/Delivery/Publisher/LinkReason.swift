/// Why a link is as it is, by the codes of `feedbridge status`.
public enum LinkReason: String, Sendable, Hashable, Codable {
    /// Connected.
    case ok
    /// Not tried yet.
    case starting
    /// The host's name is not known.
    case dns
    /// Nobody listens there, or the service said that it is unavailable.
    case refused
    /// The connection cannot be made secure.
    case tls
    /// As `tls`, and a wrong clock is the likely cause.
    case clock
    /// The name or the key is wrong.
    case keyRefused = "key-refused"
    /// Too many log-ins or data points lately.
    case throttled
    /// The account is banned for a while.
    case banned
    /// Somebody else seems to use our client id.
    case idInUse = "id-in-use"
    /// The peer did not answer in time.
    case keepAlive = "keep-alive"
    /// The peer closed the connection.
    case closed
    /// There is no room to keep data points.
    case diskFull = "disk-full"
}
