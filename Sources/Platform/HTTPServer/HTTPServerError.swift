/// Why a server could not start.
public enum HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host is no address of this machine.
    case badAddress(String)
    /// Another process listens there.
    case addressInUse(String)
    /// The path of a Unix socket is taken by something that is no socket.
    case pathIsTaken(String)
    /// The path of a Unix socket is longer than the kernel's 107 bytes.
    case pathTooLong(String)
    /// The system refused to listen, in its own words.
    case system(address: String, reason: String)
    /// Certificate or key cannot be used, in the library's words.
    case tls(reason: String)

    /// What failed, on what, why, and what to do.
    public var description: String {
        switch self {
        case .badAddress(let address):
            "Cannot listen on \(address): that is no address. Write one of this machine's, such as 127.0.0.1."
        case .addressInUse(let address):
            "Cannot listen on \(address): another process does. Stop it, or choose another address."
        case .pathIsTaken(let path):
            "Cannot listen on \(path): something that is no socket has that name. Remove it, or choose another path."
        case .pathTooLong(let path):
            "Cannot listen on \(path): the path is longer than 107 bytes. Choose a shorter one."
        case .system(let address, let reason):
            "Cannot listen on \(address): \(reason)."
        case .tls(let reason):
            "Cannot use the certificate or its key: \(reason). Both must be PEM, and belong together."
        }
    }
}
