internal import Diagnostics
internal import Glibc

/// A TCP server that does what a script says, byte by byte: a peer as odd as a test needs it.
///
/// The n-th connection follows the n-th script; one beyond the last is closed at once.
public final class ScriptedPeer: Sendable {
    /// One thing to do.
    public enum Step: Sendable {
        /// Waits until this many more bytes have come.
        case awaitBytes(Int)
        /// Waits for one whole MQTT packet.
        case awaitPacket
        /// Sends these bytes.
        case send([UInt8])
        /// Sends what this makes of the packets received so far.
        case reply(@Sendable ([[UInt8]]) -> [UInt8])
        /// Reads whatever comes and answers nothing, until the other side closes.
        case drain
        /// Says nothing and reads nothing, until the peer is stopped.
        case hang
        /// Closes the connection as usual.
        case close
        /// Closes the connection with a reset.
        case reset
    }

    private struct Connection: Sendable {
        var received: [UInt8] = []
        var packets: [[UInt8]] = []
        var finished = false
    }

    private struct State {
        var connections: [Connection] = []
        var descriptors: Set<Int32> = []
        var stopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let listener: Int32
    private let shared: Shared

    // The threads hold this and not the peer, so that the peer's end can stop them.
    private final class Shared: Sendable {
        let state = Guarded(State())

        func change(_ body: (inout State) -> Void) {
            let waiters = state.withLock { state in
                body(&state)
                let waiters = state.waiters
                state.waiters = []
                return waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Starts to listen; each script is for one connection.
    public init(_ scripts: [[Step]]) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        precondition(listener >= 0, "no socket to be had")
        var address = LocalPorts.loopback(port: 0)
        let bound = LocalPorts.withSocketAddress(&address) { bind(listener, $0, $1) }
        precondition(bound == 0 && listen(listener, 16) == 0, "cannot listen on 127.0.0.1")
        let shared = Shared()
        port = LocalPorts.port(of: listener)
        self.listener = listener
        self.shared = shared
        OwnThread.start(name: "scripted-peer") {
            ScriptedPeer.acceptAll(listener, scripts, shared)
        }
    }

    deinit {
        let open = shared.state.withLock { state in
            state.stopped = true
            return state.descriptors
        }
        // The threads own the descriptors; a shutdown wakes them and they close.
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// How many connections have come.
    public var connections: Int { shared.state.withLock { $0.connections.count } }

    /// The MQTT packets that the n-th connection has received and its script has awaited.
    public func packets(_ connection: Int = 0) -> [[UInt8]] {
        shared.state.withLock { $0.connections.indices.contains(connection) ? $0.connections[connection].packets : [] }
    }

    /// All bytes that the n-th connection has received.
    public func received(_ connection: Int = 0) -> [UInt8] {
        shared.state.withLock { $0.connections.indices.contains(connection) ? $0.connections[connection].received : [] }
    }

    /// Whether the n-th connection's script has come to its end.
    public func isFinished(_ connection: Int = 0) -> Bool {
        shared.state.withLock { $0.connections.indices.contains(connection) && $0.connections[connection].finished }
    }

    /// Waits until the n-th connection's script has come to its end.
    public func finished(_ connection: Int = 0) async {
        await untilTrue { $0.connections.indices.contains(connection) && $0.connections[connection].finished }
    }

    /// Waits until the n-th connection's script has received `count` packets.
    public func untilPackets(_ count: Int, of connection: Int = 0) async {
        await untilTrue { state in
            state.connections.indices.contains(connection) && state.connections[connection].packets.count >= count
        }
    }

    /// Waits until `count` connections have come.
    public func untilConnections(_ count: Int) async {
        await untilTrue { $0.connections.count >= count }
    }

    private func untilTrue(_ condition: (State) -> Bool) async {
        while !shared.state.withLock({ condition($0) }) {
            await withCheckedContinuation { continuation in
                let now = shared.state.withLock { state in
                    if condition(state) { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if now { continuation.resume() }
            }
        }
    }

    private static func acceptAll(_ listener: Int32, _ scripts: [[Step]], _ shared: Shared) {
        while true {
            let descriptor = LocalPorts.accept(listener)
            guard descriptor >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                close(listener)
                return
            }
            var one: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            let index = shared.state.withLock { $0.connections.count }
            shared.change { state in
                state.connections.append(Connection())
                state.descriptors.insert(descriptor)
            }
            let script = index < scripts.count ? scripts[index] : [.close]
            OwnThread.start(name: "scripted-peer") {
                var player = Player(descriptor: descriptor, index: index, shared: shared)
                player.play(script)
            }
        }
    }

    /// Plays one script on its own thread.
    private struct Player {
        let descriptor: Int32
        let index: Int
        let shared: Shared
        var buffer: [UInt8] = []

        mutating func play(_ script: [Step]) {
            var linger = true
            loop: for step in script {
                switch step {
                case .awaitBytes(let count):
                    guard fill(count) else { break loop }
                    buffer.removeFirst(count)
                case .awaitPacket:
                    guard let packet = packet() else { break loop }
                    shared.change { $0.connections[index].packets.append(packet) }
                case .send(let bytes):
                    guard send(bytes) else { break loop }
                case .reply(let make):
                    let packets = shared.state.withLock { $0.connections[index].packets }
                    guard send(make(packets)) else { break loop }
                case .drain:
                    while read() {}
                case .hang:
                    var event = pollfd(fd: descriptor, events: peerClosed, revents: 0)
                    while poll(&event, 1, 1000) == 0, !shared.state.withLock({ $0.stopped }) {}
                case .close:
                    break loop
                case .reset:
                    linger = false
                    break loop
                }
            }
            if !linger {
                var option = Glibc.linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout<Glibc.linger>.size)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
            }
            // Forgotten before it is closed: nobody shuts down a number that means another socket by then.
            shared.state.withLock { _ = $0.descriptors.remove(descriptor) }
            close(descriptor)
            shared.change { $0.connections[index].finished = true }
        }

        private mutating func packet() -> [UInt8]? {
            guard fill(2) else { return nil }
            var (length, shift, header) = (0, 0, 1)
            while true {
                guard fill(header + 1), header < 5 else { return nil }
                let byte = buffer[header]
                length |= Int(byte & 0x7f) << shift
                shift += 7
                header += 1
                if byte & 0x80 == 0 { break }
            }
            guard fill(header + length) else { return nil }
            let packet = Array(buffer[..<(header + length)])
            buffer.removeFirst(packet.count)
            return packet
        }

        private mutating func fill(_ count: Int) -> Bool {
            while buffer.count < count {
                guard read() else { return false }
            }
            return true
        }

        private mutating func read() -> Bool {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            buffer += chunk[..<count]
            shared.change { $0.connections[index].received += chunk[..<count] }
            return true
        }

        private func send(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
    }
}

// POLLRDHUP, a GNU extension that the Glibc module does not show.
private let peerClosed: Int16 = 0x2000
