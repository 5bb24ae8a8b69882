internal import Glibc

/// Where a socket listens or connects to.
public enum SocketAddress: Sendable, Hashable {
    /// A numeric IPv4 or IPv6 address, or `localhost` for 127.0.0.1; names are not resolved, since that blocks.
    case tcp(host: String, port: Int)
    /// A Unix socket; `mode` is for listeners.
    case unix(path: String, mode: UInt32 = 0o600)

    /// Opens a non-blocking socket of the right family and hands the kernel's form of the address to `body`.
    func withSocket<Result>(
        _ action: SocketError.Action,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws(SocketError) -> Result
    ) throws(SocketError) -> Result {
        var storage = sockaddr_storage()
        let length = try fill(&storage, action)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(storage.ss_family), kind, 0)
        guard descriptor >= 0 else { throw error(.open, errno) }
        do throws(SocketError) {
            return try withUnsafePointer(to: &storage) { pointer throws(SocketError) in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(SocketError) in
                    try body(descriptor, address, length)
                }
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    func error(_ action: SocketError.Action, _ code: Int32) -> SocketError {
        SocketError(action: action, address: description, code: code)
    }

    private func fill(_ storage: inout sockaddr_storage, _ action: SocketError.Action) throws(SocketError) -> socklen_t
    {
        switch self {
        case .tcp(let host, let port):
            let host = host == "localhost" ? "127.0.0.1" : host
            guard (0...65_535).contains(port) else { throw error(action, EINVAL) }
            var four = sockaddr_in()
            if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
                four.sin_family = sa_family_t(AF_INET)
                four.sin_port = in_port_t(port).bigEndian
                copy(four, to: &storage)
                return socklen_t(MemoryLayout<sockaddr_in>.size)
            }
            var six = sockaddr_in6()
            guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else { throw error(action, EINVAL) }
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = in_port_t(port).bigEndian
            copy(six, to: &storage)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        case .unix(let path, _):
            let offset = 2
            let bytes = Array(path.utf8)
            // The path and its final NUL fill at most the 108 bytes of `sun_path`.
            guard !bytes.isEmpty, bytes.count < 108, !bytes.contains(0) else { throw error(action, ENAMETOOLONG) }
            storage.ss_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &storage) { raw in
                UnsafeMutableRawBufferPointer(rebasing: raw[offset...]).copyBytes(from: bytes)
            }
            return socklen_t(offset + bytes.count + 1)
        }
    }

    private func copy<Address>(_ address: Address, to storage: inout sockaddr_storage) {
        withUnsafeMutableBytes(of: &storage) { raw in
            withUnsafeBytes(of: address) { raw.copyMemory(from: $0) }
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:1883`, `[::1]:1883` or a path.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _): path
        }
    }
}

/// What the kernel says about one end of a socket.
enum SocketName {
    /// The address in `storage`.
    static func address(_ storage: sockaddr_storage) -> SocketAddress {
        var text = [CChar](repeating: 0, count: 64)
        let (host, port): (String?, in_port_t) = withUnsafeBytes(of: storage) { raw in
            switch Int32(storage.ss_family) {
            case AF_INET:
                var four = raw.load(as: sockaddr_in.self)
                let name = inet_ntop(AF_INET, &four.sin_addr, &text, socklen_t(text.count))
                return (name.map { String(cString: $0) }, four.sin_port)
            case AF_INET6:
                var six = raw.load(as: sockaddr_in6.self)
                let name = inet_ntop(AF_INET6, &six.sin6_addr, &text, socklen_t(text.count))
                return (name.map { String(cString: $0) }, six.sin6_port)
            default: return (nil, 0)
            }
        }
        guard let host else { return .unix(path: "") }
        return .tcp(host: host, port: Int(in_port_t(bigEndian: port)))
    }

    /// The address that a bound socket has, with the port that the kernel picked.
    static func local(_ descriptor: Int32) -> SocketAddress {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return address(storage)
    }
}
