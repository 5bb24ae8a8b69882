// Thread rule: everything but `init` and `peer` belongs to the loop's thread.
internal import CEpoll
internal import Glibc

/// A stream socket on a loop: what it receives goes to a handler, what it sends waits in a bounded buffer.
///
/// Sendable: the mutable state is touched on the loop's thread only; every entry checks that.
public final class SocketConnection: @unchecked Sendable {
    /// What a connection reports, on the loop's thread.
    public struct Handler: Sendable {
        /// The connection stands (outgoing ones only).
        public var opened: @Sendable () -> Void
        /// Bytes have come; they are valid during the call only.
        public var received: @Sendable (UnsafeRawBufferPointer) -> Void
        /// It is over; nothing follows.
        public var ended: @Sendable (SocketEnd) -> Void

        /// Makes a handler.
        public init(
            opened: @escaping @Sendable () -> Void = {},
            received: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
            ended: @escaping @Sendable (SocketEnd) -> Void
        ) {
            self.opened = opened
            self.received = received
            self.ended = ended
        }
    }

    /// The other end.
    public let peer: SocketAddress
    private let core: LoopCore
    private let descriptor: Int32
    private let writeLimit: Int
    private var token: UInt64 = 0
    private var handler: Handler?
    private var output: [UInt8] = []
    private var sent = 0
    private var isGathered = false
    private var isConnecting: Bool
    private var isReading = true
    private var isEnding = false
    private var isWriteAwaited = false
    private var isOver = false

    init(_ descriptor: Int32, peer: SocketAddress, core: LoopCore, writeLimit: Int, isConnecting: Bool = false) {
        self.descriptor = descriptor
        self.peer = peer
        self.core = core
        self.writeLimit = writeLimit
        self.isConnecting = isConnecting
        if case .tcp = peer {
            var one: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        close(descriptor)
    }

    /// Connects without waiting; `handler.opened` or `handler.ended` says how it went. Safe from any thread.
    public static func connect(
        to address: SocketAddress,
        on loop: EventLoop,
        writeLimit: Int = 1 << 20,
        handler: Handler
    ) throws(SocketError) -> SocketConnection {
        let connection = try address.withSocket(.connect) { descriptor, name, length throws(SocketError) in
            if Glibc.connect(descriptor, name, length) != 0 {
                let code = errno
                // A Unix socket answers EAGAIN when the listener's queue is full; that is a refusal for now.
                guard code == EINPROGRESS else { throw address.error(.connect, code) }
            }
            return SocketConnection(
                descriptor,
                peer: address,
                core: loop.core,
                writeLimit: writeLimit,
                isConnecting: true
            )
        }
        loop.execute { connection.start(handler) }
        return connection
    }

    /// Begins to report to `handler`; called once.
    public func start(_ handler: Handler) {
        core.checkIsolated()
        guard !isOver, self.handler == nil else { return }
        self.handler = handler
        token = core.add(descriptor, self, events: interest)
    }

    /// Sends bytes, after what is already waiting; they leave before the loop waits again, or when the peer can take them.
    ///
    /// When the buffer would pass its limit, nothing is sent and the connection ends as too slow.
    public func send(_ bytes: some Collection<UInt8>) {
        core.checkIsolated()
        guard !isOver, !isEnding else { return }
        guard output.count - sent + bytes.count <= writeLimit else { return finish(.peerTooSlow) }
        output.append(contentsOf: bytes)
        gatherOnce()
    }

    /// How many bytes wait for the peer to take them.
    public var waiting: Int {
        core.checkIsolated()
        return output.count - sent
    }

    /// Closes after what is waiting has been sent.
    public func end() {
        core.checkIsolated()
        guard !isOver, !isEnding else { return }
        isEnding = true
        isReading = false
        gatherOnce()
    }

    /// Closes at once; what is waiting is lost.
    public func close() {
        core.checkIsolated()
        finish(.closedHere)
    }

    /// Stops or resumes reading: what the peer sends waits in the kernel, then in the peer.
    public func setReading(_ isOn: Bool) {
        core.checkIsolated()
        guard !isOver, !isEnding, isReading != isOn else { return }
        isReading = isOn
        changeInterest()
    }

    private func close(_ descriptor: Int32) {
        Glibc.close(descriptor)
    }

    private var interest: UInt32 {
        (isReading && !isConnecting ? EPOLLIN.rawValue : 0)
            | (isWriteAwaited || isConnecting ? EPOLLOUT.rawValue : 0)
    }

    private func changeInterest() {
        guard handler != nil, !isOver else { return }
        core.change(descriptor, token, events: interest)
    }

    private func gatherOnce() {
        guard !isGathered else { return }
        isGathered = true
        core.gather(self)
    }

    private func finish(_ end: SocketEnd) {
        guard !isOver else { return }
        isOver = true
        output = []
        sent = 0
        if token != 0 { core.remove(descriptor, token) }
        // The peer learns it now; the descriptor itself is closed with the last reference.
        shutdown(descriptor, Int32(SHUT_RDWR))
        let handler = handler
        self.handler = nil
        handler?.ended(end)
    }
}

extension SocketConnection: LoopChannel {
    func ready(_ events: UInt32) {
        if isConnecting {
            var code: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
            guard code == 0 else { return finish(.failed(code)) }
            isConnecting = false
            changeInterest()
            handler?.opened()
            flush()
            return
        }
        if events & EPOLLOUT.rawValue != 0 { flush() }
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { receive() }
    }

    func flush() {
        isGathered = false
        guard !isOver, !isConnecting, handler != nil else { return }
        while sent < output.count {
            let count = output.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor,
                    bytes.baseAddress.map { $0 + sent },
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                guard code == EAGAIN else { return finish(code == EPIPE ? .closedByPeer : .failed(code)) }
                break
            }
            sent += count
        }
        if sent == output.count {
            output.removeAll(keepingCapacity: output.capacity <= 65_536)
            sent = 0
            if isEnding { return finish(.closedHere) }
        } else if sent > 65_536 {
            output.removeFirst(sent)
            sent = 0
        }
        let mustAwait = !output.isEmpty
        if mustAwait != isWriteAwaited || isEnding {
            isWriteAwaited = mustAwait
            changeInterest()
        }
    }

    func abandon() {
        finish(.closedHere)
    }

    private func receive() {
        guard !isOver, isReading else {
            // Only a hang-up or an error is reported while reading is off.
            return finish(.closedByPeer)
        }
        let end = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer -> SocketEnd? in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                handler?.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return nil
            }
            guard count < 0 else { return .closedByPeer }
            let code = errno
            if code == EAGAIN || code == EINTR { return nil }
            return code == ECONNRESET ? .closedByPeer : .failed(code)
        }
        if let end { finish(end) }
    }
}
