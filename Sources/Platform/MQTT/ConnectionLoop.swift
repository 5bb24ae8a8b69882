internal import CMosquitto
internal import Diagnostics
internal import Glibc

/// One handle's life on its thread: connect, wait for the socket and for commands, end.
///
/// It replaces the library's own loops: those reconnect by themselves, end for good on some refusals, and wait in `select`.
final class ConnectionLoop {
    enum Phase {
        /// The socket is not connected yet.
        case connecting
        /// The encryption is being agreed on; CONNECT waits.
        case handshaking
        /// CONNECT is out.
        case greeting
        /// CONNACK 0 has come.
        case active
        /// DISCONNECT is on its way out.
        case leaving
    }

    let core: ConnectionCore
    let traffic: Traffic
    let events: CallbackEvents
    let handle: MosquittoHandle
    var phase = Phase.connecting
    var deadline: BootInstant
    /// Set by whoever finds out why it is over.
    var ending: MQTTReason?
    private let end: BootInstant
    private var isIPv6 = false
    private var hadSocket = false

    init(_ core: ConnectionCore, _ traffic: Traffic, connectBy end: BootInstant) throws(MQTTError) {
        self.core = core
        self.traffic = traffic
        self.end = end
        events = CallbackEvents(clientID: core.configuration.clientID)
        deadline = end
        let client = try MosquittoHandle(core.configuration, events: events)
        try client.configure(core.configuration)
        handle = client
    }

    /// Runs the connection from its beginning to its end.
    func run(from local: String?) -> ConnectionThread.Ending {
        start(from: local)
        while ending == nil {
            wait()
        }
        return ConnectionThread.Ending(
            reason: ending ?? .closedByPeer,
            hadSocket: hadSocket,
            mayTryIPv4: mayTryIPv4
        )
    }

    // Nothing was sent, and the address was IPv6, or nobody knows: a loopback refuses so fast that the library's call fails.
    private var mayTryIPv4: Bool {
        guard phase == .connecting, isIPv6 || !hadSocket, isName(core.configuration.host) else { return false }
        return ending == .connectionRefused || ending == .unreachable || ending == .timedOut
    }

    private func start(from local: String?) {
        let configuration = core.configuration
        func open() -> Int32 {
            core.beforeResolving?()
            return handle.connect(
                to: configuration.host,
                port: configuration.port,
                keepAlive: configuration.keepAlive,
                from: local
            )
        }
        let code = configuration.tls == nil ? open() : MosquittoLibrary.openingTLS { (open(), handle.socket >= 0) }
        let number = errno
        if core.hasEnded {
            // Given up while the resolver was at it: leave before CONNECT goes out.
            ending = .cancelled
        } else if code > 0 {
            ending = MQTTReason(code: code, errno: number, tls: events.tlsFailure)
            if configuration.tls != nil, events.hasGreeted { blameCertificate() }
        } else {
            _ = fcntl(handle.socket, F_SETFD, FD_CLOEXEC)
            hadSocket = true
            isIPv6 = isSocketIPv6(handle.socket)
            if isIPv6, isName(configuration.host) {
                // Half of the time is for the second attempt.
                let rest = core.time.boot().duration(to: deadline)
                deadline = core.time.boot().advanced(by: rest / 2)
            }
        }
    }

    /// Waits for the socket, for commands or for time to pass, and deals with what came.
    private func wait() {
        let socket = handle.socket
        guard socket >= 0 else {
            ending = ending ?? .closedByPeer
            return
        }
        var descriptors = [
            pollfd(fd: core.wakeUp, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: interest, revents: 0),
        ]
        let count = poll(&descriptors, 2, patience)
        guard count >= 0 || errno == EINTR else {
            ending = .system(errno)
            return
        }
        if descriptors[0].revents != 0 { obey(core.takeCommands()) }
        if ending == nil { serve(socket, descriptors[1].revents) }
        if ending == nil, phase == .active || phase == .greeting { keepAlive() }
        if ending == nil, phase == .active { pump() }
        if ending == nil, phase != .active, core.time.boot() >= deadline {
            ending = phase == .leaving ? .disconnected : .timedOut
        }
        publishHealth()
    }

    private var interest: Int16 {
        switch phase {
        case .connecting: Int16(POLLOUT)
        // The library's wish to write stays set for the whole handshake and would keep poll from waiting.
        case .handshaking: Int16(POLLIN)
        case .greeting, .active, .leaving: Int16(POLLIN) | (handle.wantsToWrite ? Int16(POLLOUT) : 0)
        }
    }

    /// How long to wait, in milliseconds.
    private var patience: Int32 {
        guard phase == .active else {
            let rest = core.time.boot().duration(to: deadline)
            let most: Duration = phase == .handshaking ? .milliseconds(50) : .seconds(1)
            return Int32(clamping: min(max(rest, .zero), most).nanoseconds / 1_000_000 + 1)
        }
        let silence = core.configuration.keepAlive
        guard silence > .zero else { return -1 }
        return Int32(min(max(silence / 8, .seconds(1)), .seconds(10)).nanoseconds / 1_000_000)
    }

    private func keepAlive() {
        let code = handle.tick()
        if code != MosquittoCode.success { fail(code, 0) }
    }

    private func serve(_ socket: Int32, _ happened: Int16) {
        switch phase {
        case .connecting:
            guard happened != 0 else { return }
            let error = pendingError(of: socket)
            guard error == 0 else {
                // The library's first call does the whole handshake when the broker answers within it. A broker that
                // then did not like our certificate has said so before it reset the connection.
                if handle.hasShakenHands { read() }
                ending = ending ?? MQTTReason(errno: error)
                return
            }
            // This address has answered: it gets all the time there is.
            deadline = end
            phase = core.configuration.tls == nil ? .greeting : .handshaking
            goOn(socket, happened)
        case .handshaking:
            goOn(socket, happened)
        case .greeting, .active, .leaving:
            if happened & Int16(POLLOUT) != 0 { write() }
            if ending == nil, happened & ~Int16(POLLOUT) != 0 { read() }
        }
    }

    /// Takes the next step of the handshake or of CONNECT.
    private func goOn(_ socket: Int32, _ happened: Int16) {
        if phase == .handshaking {
            let code = handle.read()
            if code != MosquittoCode.success {
                fail(code, errno)
                return
            }
            // A reset in the middle of a handshake is success to the library, which would then wait for ever.
            if happened & Int16(POLLHUP | POLLERR) != 0 || isAtEnd(socket) {
                ending = .closedByPeer
                return
            }
        }
        guard phase == .handshaking else {
            write()
            return
        }
        guard handle.hasShakenHands else { return }
        // A broker that does not like our certificate says so now, and resets the connection: read that first.
        read()
        guard ending == nil else { return }
        write()
        blameCertificate()
        phase = .greeting
    }

    /// For a connection that was gone before CONNECT was out, so that cannot be why.
    private func blameCertificate() {
        guard ending == .closedByPeer else { return }
        ending = .tls(MQTTTLSFailure(.clientCertificate, detail: "connection closed right after the handshake"))
    }

    private func write() {
        let code = handle.write()
        if code != MosquittoCode.success { fail(code, errno) }
        digest()
    }

    private func read() {
        defer { acknowledgeQuickly() }
        // As long as there is more: the library stops early when nothing is in flight.
        for _ in 0..<64 {
            let code = handle.read()
            let number = errno
            digest()
            if code != MosquittoCode.success { fail(code, number) }
            guard ending == nil, number != EAGAIN, handle.socket >= 0 else { return }
        }
    }

    // A broker with Nagle's algorithm, mosquitto's default, keeps its second PUBACK back until the first segment is
    // acknowledged, which the kernel would do 40 ms later. The kernel forgets this option, so it is set again and again.
    private func acknowledgeQuickly() {
        guard !traffic.publishes.inFlight.isEmpty, handle.socket >= 0 else { return }
        var one: Int32 = 1
        setsockopt(handle.socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Notes why it is over, unless somebody knew better already.
    func fail(_ code: Int32, _ number: Int32) {
        digest()
        guard ending == nil else { return }
        ending = phase == .leaving ? .disconnected : MQTTReason(code: code, errno: number, tls: events.tlsFailure)
    }

    private func publishHealth() {
        core.show(
            waiting: traffic.publishes.waiting,
            inFlight: traffic.publishes.inFlight.count,
            oldest: traffic.publishes.oldestUnacknowledged
        )
    }
}

/// Whether `host` is a name, which may have addresses of both kinds.
private func isName(_ host: String) -> Bool {
    !host.contains(":") && !host.allSatisfy { $0.isNumber || $0 == "." }
}

/// The error that a socket holds for whoever asks, SO_ERROR; zero when it is connected.
private func pendingError(of socket: Int32) -> Int32 {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let code = getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length)
    return code == 0 ? error : errno
}

/// Whether the peer has closed and nothing is left to read.
private func isAtEnd(_ socket: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
}

private func isSocketIPv6(_ socket: Int32) -> Bool {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            getsockname(socket, generic, &length) == 0 && generic.pointee.sa_family == sa_family_t(AF_INET6)
        }
    }
}
