internal import Glibc

/// A listening socket and, for a Unix socket, the file that it made; the file goes with it.
struct ListenSocket: ~Copyable {
    let descriptor: Int32
    /// The port in use; 0 on a Unix socket.
    let port: Int
    private let path: String?
    private let file: (device: dev_t, inode: ino_t)

    /// Binds and listens.
    static func listening(on address: HTTPListenAddress) throws(HTTPServerError) -> ListenSocket {
        let family =
            switch address {
            case .tcp(let host, _): host.contains(":") ? AF_INET6 : AF_INET
            case .unix: AF_UNIX
            }
        let descriptor = try open(family, address)
        do throws(HTTPServerError) {
            switch address {
            case .tcp(let host, let port):
                try bindTCP(descriptor, host: host, port: port, address)
                return ListenSocket(descriptor: descriptor, port: boundPort(descriptor), path: nil)
            case .unix(let path, let mode):
                try bindUnix(descriptor, path: path, mode: mode, address)
                return ListenSocket(descriptor: descriptor, port: 0, path: path)
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    private init(descriptor: Int32, port: Int, path: String?) {
        self.descriptor = descriptor
        self.port = port
        self.path = path
        var status = stat()
        if let path { lstat(path, &status) }
        file = (status.st_dev, status.st_ino)
    }

    deinit {
        if let path {
            // Only our own file: another server may have taken the name meanwhile.
            var status = stat()
            if lstat(path, &status) == 0, status.st_dev == file.device, status.st_ino == file.inode { unlink(path) }
        }
        close(descriptor)
    }

    private static func open(_ family: Int32, _ address: HTTPListenAddress) throws(HTTPServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw failure(errno, address) }
        return descriptor
    }

    private static func bindTCP(
        _ descriptor: Int32,
        host: String,
        port: Int,
        _ address: HTTPListenAddress
    ) throws(HTTPServerError) {
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if host.contains(":") { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        let code = Address.withSocketAddress(host: host, port: port) { bind(descriptor, $0, $1) == 0 ? 0 : errno }
        guard let code else { throw .badAddress("\(address)") }
        guard code == 0 else { throw failure(code, address) }
        guard listen(descriptor, 128) == 0 else { throw failure(errno, address) }
    }

    private static func bindUnix(
        _ descriptor: Int32,
        path: String,
        mode: UInt32,
        _ address: HTTPListenAddress
    ) throws(HTTPServerError) {
        // On Linux the file gets the mode that the socket has at bind, so there is no moment with wider permissions.
        fchmod(descriptor, mode)
        var code = Address.withSocketAddress(path: path) { bind(descriptor, $0, $1) == 0 ? 0 : errno }
        if code == EADDRINUSE {
            try removeStale(path)
            code = Address.withSocketAddress(path: path) { bind(descriptor, $0, $1) == 0 ? 0 : errno }
        }
        guard let code else { throw .pathTooLong(path) }
        guard code == 0 else { throw failure(code, address) }
        // The process's umask took its part away; what was asked for counts.
        chmod(path, mode)
        guard listen(descriptor, 128) == 0 else { throw failure(errno, address) }
    }

    /// Removes a socket file that a dead process left; throws when somebody listens or it is no socket.
    private static func removeStale(_ path: String) throws(HTTPServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .pathIsTaken(path) }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw .addressInUse(path) }
        defer { close(probe) }
        let code = Address.withSocketAddress(path: path) { connect(probe, $0, $1) == 0 ? 0 : errno }
        // Only a refused connection proves that nobody listens; a full queue, say, proves the contrary.
        guard code == ECONNREFUSED else { throw .addressInUse(path) }
        unlink(path)
    }

    private static func boundPort(_ descriptor: Int32) -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
            // Both families have the port at the same place.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func failure(_ code: Int32, _ address: HTTPListenAddress) -> HTTPServerError {
        switch code {
        case EADDRINUSE: .addressInUse("\(address)")
        default: .system(address: "\(address)", reason: reason(code))
        }
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case EACCES, EPERM: "permission denied; choose a port from 1024 on, or a folder that this user may write"
        case EADDRNOTAVAIL: "this machine does not have that address"
        case ENOENT: "the folder does not exist"
        default: String(cString: strerror(code))
        }
    }
}
