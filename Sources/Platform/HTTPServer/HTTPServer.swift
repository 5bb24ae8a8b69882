internal import CMicroHTTPD
public import Diagnostics
internal import Dispatch
internal import Glibc

/// Certificate and private key of a server, both as PEM text.
public struct HTTPServerTLS: Sendable {
    let certificate: String
    let key: Secret

    /// Takes the certificate (with its chain, if any) and its key.
    public init(certificate: String, key: Secret) {
        self.certificate = certificate
        self.key = key
    }
}

/// An HTTP/1.1 server with routes, on a TCP port or a Unix socket.
///
/// One thread of its own does everything that touches a socket; handlers run on Swift's cooperative pool and may be
/// called at the same time. The server listens from `init` until `stop` (or until it is let go of).
public final class HTTPServer: Sendable {
    /// The port that is in use, also when port 0 was asked for; 0 on a Unix socket.
    public let port: Int

    private let mailbox: Mailbox
    private let thread: Guarded<pthread_t?>

    /// Listens.
    ///
    /// - Parameters:
    ///   - access: which `Host` and `Origin` are answered.
    ///   - options: answers `OPTIONS`, for those who serve pages of other origins; without it an empty answer names
    ///     what is allowed.
    ///   - fallback: answers what no route is for; without it the answer is a plain 404.
    public init(
        _ address: HTTPListenAddress,
        routes: [HTTPRoute],
        limits: HTTPLimits = HTTPLimits(),
        tls: HTTPServerTLS? = nil,
        access: HTTPAccess = .strict(),
        options: HTTPHandler? = nil,
        fallback: HTTPHandler? = nil,
        log: Log
    ) throws(HTTPServerError) {
        let socket = try ListenSocket.listening(on: address)
        port = socket.port
        let isLocal = if case .unix = address { true } else { false }
        let rules = ServerRules(
            router: Router(routes),
            limits: limits,
            tls: tls,
            access: isLocal ? .open : access,
            options: options,
            fallback: fallback,
            log: log
        )
        mailbox = Mailbox()
        let start = ServerStart(socket: socket, rules: rules, mailbox: mailbox)
        thread = Guarded(nil)
        try start.run { thread in self.thread.withLock { $0 = thread } }
    }

    deinit {
        stop()
    }

    /// Stops listening, cancels the handlers, ends the event streams and closes every connection.
    ///
    /// Returns when the port is free; waits for no handler and no client.
    public func stop() {
        mailbox.post(.stop)
        let thread = thread.withLock { $0.take() }
        guard let thread else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }
}

/// What a server was told about how to answer.
struct ServerRules: Sendable {
    let router: Router
    let limits: HTTPLimits
    let tls: HTTPServerTLS?
    let access: HTTPAccess
    let options: HTTPHandler?
    let fallback: HTTPHandler?
    let log: Log
}

/// Starts the server's thread and tells how that went.
private final class ServerStart: Sendable {
    private let socket: Guarded<ListenSocket?>
    private let rules: ServerRules
    private let mailbox: Mailbox
    private let outcome = Guarded<HTTPServerError?>(nil)
    private let ready = DispatchSemaphore(value: 0)

    init(socket: consuming sending ListenSocket, rules: ServerRules, mailbox: Mailbox) {
        self.socket = Guarded(socket)
        self.rules = rules
        self.mailbox = mailbox
    }

    func run(keep: (pthread_t) -> Void) throws(HTTPServerError) {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 512 << 10)
        let code = pthread_create(&thread, &attributes, serverThread, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw .system(address: "a socket", reason: "no thread could be started")
        }
        // The daemon starts within a millisecond or so: nothing in it waits for anybody.
        ready.wait()
        if let error = outcome.withLock({ $0 }) {
            pthread_join(thread, nil)
            throw error
        }
        keep(thread)
    }

    /// The body of the thread.
    func serve() {
        guard let socket = socket.withLock({ $0.take() }) else { return }
        do throws(HTTPServerError) {
            let loop = try ServerLoop(socket: socket, rules: rules, mailbox: mailbox)
            ready.signal()
            loop.run()
        } catch {
            outcome.withLock { $0 = error }
            ready.signal()
        }
    }
}

private func serverThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Signals are for the program's other threads; a write to a closed connection is an error code, no SIGPIPE.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    feedbridge_name_thread("http-server")
    guard let argument else { return nil }
    Unmanaged<ServerStart>.fromOpaque(argument).takeRetainedValue().serve()
    return nil
}
