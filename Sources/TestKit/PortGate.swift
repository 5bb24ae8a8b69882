// Thread rule: one thread waits in `accept` while the gate is open, two carry the bytes of each connection. They end when
// their sockets are shut down. A socket is closed by the last thread that uses it, once nobody else can find it.

internal import Diagnostics
internal import Glibc

/// A port on 127.0.0.1 that leads to another one while it is open, and refuses connections while it is closed.
public final class PortGate: Sendable {
    /// The port that clients connect to.
    public let port: Int
    private let target: Int
    private let ways = Guarded(GateWays())

    /// Opens a gate to `target`, a port on 127.0.0.1.
    public init(to target: Int) {
        port = LocalPorts.free()
        self.target = target
        open()
    }

    deinit { ways.withLock { $0.shut() } }

    /// Lets connections through. The gate must be closed.
    public func open() {
        let listener = GateWays.socket()
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = LocalPorts.loopback(port: port)
        let isBound = LocalPorts.withSocketAddress(&address) { bind(listener, $0, $1) } == 0
        precondition(isBound && listen(listener, 16) == 0, "cannot listen on port \(port)")
        ways.withLock { $0.listener = listener }
        OwnThread.start(name: "gate") { [ways, target] in
            while true {
                let client = LocalPorts.accept(listener)
                guard client >= 0 else { break }
                carry(client, to: target, listener, ways)
            }
            close(listener)
        }
    }

    /// Refuses connections from now on, and ends those that are carried.
    public func shut() { ways.withLock { $0.shut() } }
}

/// What is open.
private struct GateWays {
    var listener: Int32?
    /// Both sockets of each connection, and how many threads use them.
    var connections: [Int: (sockets: [Int32], users: Int)] = [:]
    var next = 0

    static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    mutating func shut() {
        if let listener { shutdown(listener, Int32(SHUT_RDWR)) }
        listener = nil
        for socket in connections.values.flatMap(\.sockets) { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}

private func carry(_ client: Int32, to target: Int, _ listener: Int32, _ ways: Guarded<GateWays>) {
    let server = GateWays.socket()
    var address = LocalPorts.loopback(port: target)
    let isConnected = LocalPorts.withSocketAddress(&address) { connect(server, $0, $1) } == 0
    let number: Int? = ways.withLock { ways in
        guard isConnected, ways.listener == listener else { return nil }
        ways.next += 1
        ways.connections[ways.next] = ([client, server], 2)
        return ways.next
    }
    guard let number else {
        close(client)
        close(server)
        return
    }
    for (source, sink) in [(client, server), (server, client)] {
        OwnThread.start(name: "gate-bytes") { carry(source, to: sink, number, ways) }
    }
}

private func carry(_ source: Int32, to sink: Int32, _ number: Int, _ ways: Guarded<GateWays>) {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    reading: while true {
        let count = recv(source, &bytes, bytes.count, 0)
        guard count > 0 else { break }
        var sent = 0
        while sent < count {
            let more = bytes[sent..<count].withUnsafeBytes { send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard more > 0 else { break reading }
            sent += more
        }
    }
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(sink, Int32(SHUT_RDWR))
    let done: [Int32] = ways.withLock { ways in
        guard let connection = ways.connections[number] else { return [] }
        ways.connections[number] = connection.users > 1 ? (connection.sockets, connection.users - 1) : nil
        return connection.users > 1 ? [] : connection.sockets
    }
    for socket in done { close(socket) }
}
