internal import CMicroHTTPD
internal import Diagnostics
internal import Glibc

/// libmicrohttpd's daemon and what must live as long as it. It belongs to the thread of the loop that made it.
final class Daemon {
    private(set) var pollDescriptor: Int32 = -1
    private var handle: OpaquePointer?
    private var socket: ListenSocket?
    private let setup: UnsafeMutablePointer<feedbridge_mhd_setup>
    private var texts: [UnsafeMutablePointer<CChar>] = []
    /// The last line the library logged: why it did not start.
    var lastLine = ""

    init(socket: consuming ListenSocket) {
        self.socket = consume socket
        setup = .allocate(capacity: 1)
        setup.initialize(to: feedbridge_mhd_setup())
    }

    deinit {
        if let handle { MHD_stop_daemon(handle) }
        setup.deallocate()
        for text in texts { free(text) }
    }

    func start(_ rules: ServerRules, context: UnsafeMutableRawPointer) throws(HTTPServerError) {
        // The daemon closes the descriptor it listens on; the socket keeps its own.
        let listening = dup(socket?.descriptor ?? -1)
        guard listening >= 0 else { throw .system(address: "a socket", reason: "no file descriptor is left") }
        _ = fcntl(listening, F_SETFD, FD_CLOEXEC)
        let limits = rules.limits
        setup.pointee.listen_socket = listening
        setup.pointee.connection_memory = limits.headerBytes
        setup.pointee.connection_limit = UInt32(clamping: limits.connections)
        setup.pointee.timeout_seconds = UInt32(clamping: max(limits.inactivity.components.seconds, 1))
        setup.pointee.context = context
        setup.pointee.handle_request = handleRequest
        setup.pointee.begin_request = beginRequest
        setup.pointee.request_completed = requestCompleted
        setup.pointee.connection_changed = connectionChanged
        setup.pointee.log = logLine
        if let tls = rules.tls {
            setup.pointee.certificate = keep(tls.certificate)
            setup.pointee.key = keep(tls.key.reveal())
        }
        guard let handle = feedbridge_mhd_start(setup) else {
            close(listening)
            guard rules.tls != nil else {
                throw .system(address: "a socket", reason: "libmicrohttpd did not start: \(lastLine)")
            }
            throw .tls(reason: lastLine)
        }
        self.handle = handle
        pollDescriptor = feedbridge_mhd_epoll_descriptor(handle)
    }

    private func keep(_ text: String) -> UnsafePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        texts.append(copy)
        return UnsafePointer(copy)
    }

    /// Does what is due, without waiting.
    func run() {
        guard let handle else { return }
        // At the limit of connections (or of descriptors) libmicrohttpd takes its listening socket out of its epoll
        // set, and puts it back only at the beginning of a run. When connections ended in this one, nothing else may
        // ever wake the poll: so run again, or newcomers wait for ever.
        var before = feedbridge_mhd_connections(handle)
        while true {
            MHD_run(handle)
            let after = feedbridge_mhd_connections(handle)
            guard after < before else { return }
            before = after
        }
    }

    /// Milliseconds until `run` must be called; -1 when only events matter.
    func timeout() -> Int32 {
        var milliseconds: UInt64 = 0
        guard let handle, MHD_get_timeout(handle, &milliseconds) == .YES else { return -1 }
        return Int32(clamping: milliseconds)
    }

    /// Accepts nobody any more; the port is free once the listening descriptors are closed.
    func stopListening() {
        guard let handle else { return }
        let listening = MHD_quiesce_daemon(handle)
        if listening >= 0 { close(listening) }
        socket = nil
    }

    func stop() {
        if let handle { MHD_stop_daemon(handle) }
        handle = nil
        socket = nil
    }
}
