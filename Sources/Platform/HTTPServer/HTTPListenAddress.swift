/// Where a server listens.
public enum HTTPListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An address of this machine (or `localhost`) and a port; port 0 picks a free one.
    case tcp(host: String, port: Int)
    /// A socket in the file system, made with the permissions `mode`.
    case unix(path: String, mode: UInt32 = 0o600)

    /// The address for people: `127.0.0.1:8377`, or the path.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _): path
        }
    }
}
