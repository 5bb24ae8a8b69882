// Thread rule: `init`, `address` and `port` belong to any thread, the rest to the loop's.
internal import CEpoll
internal import Glibc

/// A socket that accepts connections on a loop.
///
/// Sendable: `token`, `spare` and `isOver` are touched on the loop's thread only; every entry checks that.
public final class SocketListener: @unchecked Sendable {
    /// Where it listens, with the port that the kernel picked.
    public let address: SocketAddress
    private let core: LoopCore
    private let descriptor: Int32
    private let writeLimit: Int
    private let accepted: @Sendable (SocketConnection) -> Void
    private var token: UInt64 = 0
    private var spare: Int32
    private var isOver = false

    /// Listens at once; port 0 picks a free one. Safe from any thread.
    ///
    /// `accepted` is called on the loop's thread and starts the connection, or drops it. A Unix socket's file that nobody
    /// listens on any more is replaced.
    public init(
        at address: SocketAddress,
        on loop: EventLoop,
        writeLimit: Int = 1 << 20,
        accepted: @escaping @Sendable (SocketConnection) -> Void
    ) throws(SocketError) {
        if case .unix(let path, _) = address { SocketListener.removeStale(path, address) }
        descriptor = try address.withSocket(.listen) { descriptor, name, length throws(SocketError) in
            var one: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
            guard bind(descriptor, name, length) == 0 else { throw address.error(.listen, errno) }
            if case .unix(let path, let mode) = address { chmod(path, mode_t(mode)) }
            guard listen(descriptor, 128) == 0 else { throw address.error(.listen, errno) }
            return descriptor
        }
        if case .tcp = address {
            self.address = SocketName.local(descriptor)
        } else {
            self.address = address
        }
        core = loop.core
        self.writeLimit = writeLimit
        self.accepted = accepted
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
        core.execute { self.start() }
    }

    deinit {
        Glibc.close(descriptor)
        if spare >= 0 { Glibc.close(spare) }
    }

    /// The port; 0 for a Unix socket.
    public var port: Int {
        if case .tcp(_, let port) = address { port } else { 0 }
    }

    /// Accepts no more; a Unix socket's file is removed. Connections that stand are not touched.
    public func close() {
        core.checkIsolated()
        guard !isOver else { return }
        isOver = true
        if token != 0 { core.remove(descriptor, token) }
        shutdown(descriptor, Int32(SHUT_RDWR))
        if case .unix(let path, _) = address { unlink(path) }
    }

    private func start() {
        guard !isOver else { return }
        token = core.add(descriptor, self, events: EPOLLIN.rawValue)
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let isRefused = try? address.withSocket(.connect) { descriptor, name, length in
            let isRefused = connect(descriptor, name, length) != 0 && errno == ECONNREFUSED
            Glibc.close(descriptor)
            return isRefused
        }
        if isRefused == true { unlink(path) }
    }
}

extension SocketListener: LoopChannel {
    func ready(_ events: UInt32) {
        // A bounded round, so that a flood of connections does not starve those that stand.
        for _ in 0..<32 {
            guard !isOver else { return }
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    accept4(
                        self.descriptor,
                        name,
                        &length,
                        Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                    )
                }
            }
            guard descriptor >= 0 else {
                let code = errno
                if code == EMFILE || code == ENFILE { refuseOne() }
                if code == EINTR || code == ECONNABORTED { continue }
                return
            }
            accepted(
                SocketConnection(
                    descriptor,
                    peer: SocketName.address(storage),
                    core: core,
                    writeLimit: writeLimit
                )
            )
        }
    }

    func flush() {}

    func abandon() { close() }

    /// Without a free descriptor a waiting connection would wake the loop for ever: it is taken with the spare one and
    /// closed.
    private func refuseOne() {
        guard spare >= 0 else { return }
        Glibc.close(spare)
        let descriptor = accept(self.descriptor, nil, nil)
        if descriptor >= 0 { Glibc.close(descriptor) }
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
}
