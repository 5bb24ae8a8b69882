internal import Diagnostics
internal import Glibc

/// Stands between a client and a server on 127.0.0.1 and spoils their TCP connections as a test wants it.
///
/// One thread of its own carries all bytes; everything here may be called from anywhere.
public final class FaultProxy: Sendable {
    /// What becomes of the bytes.
    public enum Weather: Sendable, Hashable {
        /// They go on as they come.
        case fair
        /// They vanish, and so do the ends of connections: no FIN, no RST. What lost bytes never works again.
        case blackHole
        /// They go on one by one, each in a segment of its own.
        case oneByOne
        /// They go on so much later.
        case delayed(Duration)
        /// So many of them go on in a second, in each direction of each connection.
        case narrow(bytesPerSecond: Int)
    }

    /// What hits a connection once a packet has gone on.
    public enum Blow: Sendable, Hashable {
        /// It is reset on both sides.
        case reset
        /// It loses all that comes later, in both directions, and its end.
        case blackHole
        /// The direction of that packet is closed; the other goes on.
        case halfClose
    }

    /// Which way bytes go.
    public enum Direction: Sendable, Hashable {
        /// From the client to the server.
        case toServer
        /// From the server to the client.
        case toClient
    }

    /// What has happened so far.
    public struct Counts: Sendable, Hashable {
        /// Connections that clients made.
        public var connections = 0
        /// Bytes that vanished.
        public var swallowed = 0
        /// Bytes that went on one by one.
        public var single = 0
        /// Connections that were reset on both sides.
        public var resets = 0
        /// Blows that have fallen.
        public var blows = 0
        /// MQTT packets that went on to the server, those of all kinds and connections.
        public var packetsToServer = 0
        /// MQTT packets that went on to the client.
        public var packetsToClient = 0
    }

    struct Plan: Sendable {
        var blow: Blow
        var packets: Int
        var kind: UInt8?
        var direction: Direction
    }

    struct Orders: Sendable {
        var weather = Weather.fair
        var plan: Plan?
        var resets = false
        var halfCloses: [Direction] = []
        var isStopped = false
        var counts = Counts()
    }

    /// The port on 127.0.0.1 that clients connect to.
    public let port: Int
    private let orders: Guarded<Orders>
    private let shared: FaultProxyShared

    /// Starts to carry connections to `server`, a port on 127.0.0.1.
    public init(to server: Int) {
        let listener = FaultProxyLoop.listener()
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe to be had")
        for end in ends { FaultProxyLoop.prepare(end) }
        let shared = FaultProxyShared(pipe: ends)
        port = LocalPorts.port(of: listener)
        self.shared = shared
        orders = shared.orders
        OwnThread.start(name: "fault-proxy") { [wake = ends[0]] in
            var loop = FaultProxyLoop(listener: listener, wake: wake, server: server, shared: shared)
            loop.run()
        }
    }

    deinit { order { $0.isStopped = true } }

    /// What has happened so far.
    public var counts: Counts { orders.withLock { $0.counts } }

    /// Changes what becomes of the bytes from now on.
    public func set(_ weather: Weather) { order { $0.weather = weather } }

    /// Ends every connection with a reset on both sides.
    public func reset() { order { $0.resets = true } }

    /// Closes this direction of every connection, after what is on its way; the other goes on.
    public func halfClose(_ direction: Direction) { order { $0.halfCloses.append(direction) } }

    /// Hits a connection once its n-th MQTT packet of a kind (3: PUBLISH, 4: PUBACK ...), or of any kind, has gone on.
    ///
    /// Only once; a later call replaces a blow that has not fallen.
    public func strike(_ blow: Blow, afterPackets packets: Int, ofKind kind: UInt8? = nil, _ direction: Direction) {
        order { $0.plan = Plan(blow: blow, packets: packets, kind: kind, direction: direction) }
    }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        shared.awake()
    }
}

/// What the proxy and its thread have in common.
final class FaultProxyShared: Sendable {
    let orders = Guarded(FaultProxy.Orders())
    private let pipe: [Int32]

    init(pipe: [Int32]) { self.pipe = pipe }

    // Both ends live as long as this: writing to a pipe that nobody reads would end the process.
    deinit { for end in pipe { close(end) } }

    func awake() {
        var byte: UInt8 = 0
        // A full pipe wakes as well as one more byte.
        _ = write(pipe[1], &byte, 1)
    }
}
