internal import CMicroHTTPD
internal import Diagnostics
internal import Glibc

/// The server's thread: libmicrohttpd's daemon, its connections, and the poll around them.
///
/// Thread rule: everything in here, libmicrohttpd's callbacks included, runs on the one thread that called `init`. The
/// daemon has no thread of its own ("external polling"), so suspending, resuming and queueing answers need no lock, and
/// the same poll sees when a client hangs up while its handler works.
final class ServerLoop {
    let rules: ServerRules
    let mailbox: Mailbox
    private let daemon: Daemon
    private let hangups = HangupWatch()
    private let time = SystemTime()
    private(set) var isStopping = false

    var connections: [UInt64: Connection] = [:]
    private var lastID: UInt64 = 0
    /// When the next time limit or heartbeat is due; nil when nobody waits for one.
    private var nextDeadline: BootInstant?

    init(socket: consuming ListenSocket, rules: ServerRules, mailbox: Mailbox) throws(HTTPServerError) {
        self.rules = rules
        self.mailbox = mailbox
        daemon = Daemon(socket: socket)
        // Unretained: the callbacks come only from calls that the loop itself makes.
        try daemon.start(rules, context: Unmanaged.passUnretained(self).toOpaque())
    }

    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func now() -> BootInstant { time.boot() }

    // MARK: The poll

    func run() {
        while !isStopping {
            wait(atMost: timeout())
            handleMessages()
            for id in hangups.take() { connections[id].map(hungUp) }
            checkDeadlines()
            daemon.run()
        }
        shutDown()
    }

    private func wait(atMost milliseconds: Int32) {
        var descriptors = [
            pollfd(fd: daemon.pollDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hangups.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }

    private func timeout() -> Int32 {
        let daemons = daemon.timeout()
        guard let nextDeadline else { return daemons }
        // Rounded up, so that the deadline is over when the poll returns.
        let rest = max(now().duration(to: nextDeadline).nanoseconds, 0)
        let ours = Int32(clamping: rest / 1_000_000 + 1)
        return daemons < 0 ? ours : min(daemons, ours)
    }

    private func handleMessages() {
        for message in mailbox.take() {
            switch message {
            case .stop:
                isStopping = true
            case .events(let id):
                if let connection = connections[id] { resume(connection) }
            case .answered(let id, let exchangeID, let response):
                guard let connection = connections[id], let exchange = connection.exchange,
                    exchange.id == exchangeID, case .running = exchange.state
                else { continue }
                exchange.state = .answered(response)
                resume(connection)
            }
        }
    }

    // MARK: Suspending

    /// Stops libmicrohttpd from looking at the connection until `resume`; only from inside its callbacks.
    func suspend(_ connection: Connection) {
        connection.isSuspended = true
        MHD_suspend_connection(connection.handle)
        hangups.add(connection.socket, id: connection.id)
    }

    func resume(_ connection: Connection) {
        guard connection.isSuspended else { return }
        connection.isSuspended = false
        hangups.remove(connection.socket)
        MHD_resume_connection(connection.handle)
    }

    private func hungUp(_ connection: Connection) {
        connection.isGone = true
        connection.exchange?.abandon()
        resume(connection)
    }

    // MARK: Time limits

    /// Sees to it that the poll wakes up at `deadline`.
    func wake(at deadline: BootInstant) {
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }

    private func checkDeadlines() {
        guard let due = nextDeadline, due <= now() else { return }
        let now = now()
        nextDeadline = nil
        for connection in connections.values {
            if let deadline = connection.deadline {
                if deadline <= now {
                    // libmicrohttpd sees the end of the stream and closes.
                    connection.deadline = nil
                    Glibc.shutdown(connection.socket, Int32(SHUT_RDWR))
                } else {
                    wake(at: deadline)
                }
            }
            if let events = connection.exchange?.events {
                events.beat(now: now)
                wake(at: events.nextBeat)
            }
        }
    }

    // MARK: The end

    private func shutDown() {
        daemon.stopListening()
        for connection in connections.values {
            if case .running(let task) = connection.exchange?.state {
                task.cancel()
                connection.exchange?.state = .answered(stopping)
            }
            connection.exchange?.events?.finish()
            resume(connection)
        }
        // What is ready goes out, as far as the clients take it at once.
        let end = now().advanced(by: .milliseconds(100))
        while connections.values.contains(where: { $0.exchange != nil }), now() < end {
            daemon.run()
            var nothing = pollfd(fd: daemon.pollDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&nothing, 1, 5)
        }
        for connection in connections.values {
            connection.exchange?.abandon()
            // "it is an API violation to call MHD_stop_daemon while having suspended connections"
            resume(connection)
        }
        daemon.run()
        daemon.stop()
    }
}
