internal import Diagnostics
internal import Glibc

/// The thread of a `FaultProxy`: it alone owns the descriptors.
struct FaultProxyLoop {
    private static let mostPending = 1 << 20

    private struct Chunk {
        var due: BootInstant
        var bytes: ArraySlice<UInt8>
        var isSingle: Bool
    }

    /// One direction of a connection.
    private struct Flow {
        let from: Int32
        let to: Int32
        let direction: FaultProxy.Direction
        var pending: [Chunk] = []
        var packets = PacketCounter()
        /// When the last byte that was taken has gone through a narrow way.
        var busyUntil: BootInstant?
        /// The sender has closed, or we behave as if.
        var isEnded = false
        /// The receiver was told so.
        var isShut = false

        var hasRoom: Bool { !isEnded && pending.reduce(0) { $0 + $1.bytes.count } < mostPending }
    }

    private struct Connection {
        var flows: [Flow]
        /// It lost bytes: nothing of it goes on any more, not even its end.
        var isLost = false
        var isOver = false
    }

    private let listener: Int32
    private let wake: Int32
    private let server: Int
    private let shared: FaultProxyShared
    private let time = SystemTime()
    private var connections: [Connection] = []

    init(listener: Int32, wake: Int32, server: Int, shared: FaultProxyShared) {
        self.listener = listener
        self.wake = wake
        self.server = server
        self.shared = shared
    }

    /// A socket that listens on a free port of 127.0.0.1.
    static func listener() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "no socket to be had")
        var address = LocalPorts.loopback(port: 0)
        let bound = LocalPorts.withSocketAddress(&address) { bind(descriptor, $0, $1) }
        precondition(bound == 0 && listen(descriptor, 64) == 0, "cannot listen on 127.0.0.1")
        prepare(descriptor)
        return descriptor
    }

    /// Makes a descriptor non-blocking, and keeps it from children.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    mutating func run() {
        while true {
            let orders = shared.orders.withLock { orders in
                defer {
                    orders.resets = false
                    orders.halfCloses = []
                }
                return orders
            }
            guard !orders.isStopped else { break }
            obey(orders)
            for index in connections.indices {
                for side in 0...1 where !connections[index].isOver { move(index, side) }
            }
            bury()
            wait()
        }
        for connection in connections { close(connection, hard: false) }
        Glibc.close(listener)
    }

    // MARK: What is told

    private mutating func obey(_ orders: FaultProxy.Orders) {
        for index in connections.indices {
            if orders.resets { reset(index) }
            for direction in orders.halfCloses {
                for side in 0...1 where connections[index].flows[side].direction == direction {
                    connections[index].flows[side].isEnded = true
                }
            }
        }
    }

    private mutating func reset(_ index: Int) {
        guard !connections[index].isOver else { return }
        close(connections[index], hard: true)
        connections[index].isOver = true
        shared.orders.withLock { $0.counts.resets += 1 }
    }

    // MARK: Bytes

    private mutating func move(_ index: Int, _ side: Int) {
        take(index, side)
        guard !connections[index].isOver else { return }
        give(index, side)
    }

    /// Reads what has come.
    private mutating func take(_ index: Int, _ side: Int) {
        while !connections[index].isOver, connections[index].flows[side].hasRoom {
            let flow = connections[index].flows[side]
            let weather = shared.orders.withLock { $0.weather }
            var most = 16_384
            // So little that it goes on evenly.
            if case .narrow(let speed) = weather { most = min(max(1, speed / 20), most) }
            var chunk = [UInt8](repeating: 0, count: most)
            let count = recv(flow.from, &chunk, chunk.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            let isGone = weather == .blackHole || connections[index].isLost
            if isGone {
                connections[index].isLost = true
                shared.orders.withLock { $0.counts.swallowed += max(0, count) }
            }
            if count < 0, !isGone { return reset(index) }
            guard count > 0 else {
                connections[index].flows[side].isEnded = true
                return
            }
            if isGone { continue }
            var due = time.boot()
            switch weather {
            case .delayed(let delay): due = due.advanced(by: delay)
            case .narrow(let speed):
                let start = max(due, flow.busyUntil ?? due)
                due = start.advanced(by: .seconds(Double(count) / Double(max(1, speed))))
                connections[index].flows[side].busyUntil = due
            case .fair, .blackHole, .oneByOne: break
            }
            // What was delayed before is not overtaken.
            if let last = flow.pending.last { due = max(due, last.due) }
            let new = Chunk(due: due, bytes: chunk[..<count], isSingle: weather == .oneByOne)
            connections[index].flows[side].pending.append(new)
        }
    }

    /// Hands on what is due.
    private mutating func give(_ index: Int, _ side: Int) {
        if connections[index].isLost {
            connections[index].flows[side].pending = []
            return
        }
        let now = time.boot()
        while let chunk = connections[index].flows[side].pending.first, chunk.due <= now {
            let flow = connections[index].flows[side]
            let blow = nextBlow(index, side, chunk.bytes)
            let length = chunk.isSingle ? 1 : blow?.length ?? chunk.bytes.count
            let sent = chunk.bytes.prefix(length).withUnsafeBytes {
                send(flow.to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if sent < 0, errno == EAGAIN || errno == EINTR { return }
            guard sent > 0 else { return reset(index) }
            let before = flow.packets.total
            connections[index].flows[side].packets.pass(chunk.bytes.prefix(sent))
            count(connections[index].flows[side].packets.total - before, flow.direction, isSingle: chunk.isSingle)
            connections[index].flows[side].pending[0].bytes = chunk.bytes.dropFirst(sent)
            if chunk.bytes.count == sent { connections[index].flows[side].pending.removeFirst() }
            if let blow, blow.length == sent {
                strike(blow.kind, index, side)
                if connections[index].isOver || connections[index].isLost { return }
            }
        }
        let flow = connections[index].flows[side]
        guard flow.isEnded, flow.pending.isEmpty, !flow.isShut else { return }
        shutdown(flow.to, Int32(SHUT_WR))
        connections[index].flows[side].isShut = true
    }

    private func count(_ packets: Int, _ direction: FaultProxy.Direction, isSingle: Bool) {
        shared.orders.withLock { orders in
            if isSingle { orders.counts.single += 1 }
            switch direction {
            case .toServer: orders.counts.packetsToServer += packets
            case .toClient: orders.counts.packetsToClient += packets
            }
        }
    }

    // MARK: Blows

    /// The blow that falls within these bytes, and how many of them still go on.
    private func nextBlow(_ index: Int, _ side: Int, _ bytes: ArraySlice<UInt8>) -> (
        kind: FaultProxy.Blow, length: Int
    )? {
        let flow = connections[index].flows[side]
        guard let plan = shared.orders.withLock({ $0.plan }), plan.direction == flow.direction else { return nil }
        var packets = flow.packets
        return packets.length(of: bytes, until: plan.packets, of: plan.kind).map { (plan.blow, $0) }
    }

    private mutating func strike(_ blow: FaultProxy.Blow, _ index: Int, _ side: Int) {
        switch blow {
        case .reset: cut(index, side)
        case .blackHole: connections[index].isLost = true
        case .halfClose:
            connections[index].flows[side].isEnded = true
            connections[index].flows[side].pending = []
        }
        shared.orders.withLock { orders in
            orders.plan = nil
            orders.counts.blows += 1
            if blow == .reset { orders.counts.resets += 1 }
        }
    }

    /// The receiver gets what was sent, then the sender a reset: a closed socket would drop what it has not sent yet.
    private mutating func cut(_ index: Int, _ side: Int) {
        let flow = connections[index].flows[side]
        let other = connections[index].flows[1 - side]
        Self.close(flow.from, hard: true)
        Self.close(other.from, hard: false)
        connections[index].isOver = true
    }

    // MARK: Connections

    private mutating func accept() {
        while true {
            let client = LocalPorts.accept(listener)
            guard client >= 0 else { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            precondition(server >= 0, "no socket to be had")
            shared.orders.withLock { $0.counts.connections += 1 }
            var address = LocalPorts.loopback(port: self.server)
            guard LocalPorts.withSocketAddress(&address, { connect(server, $0, $1) }) == 0 else {
                Self.close(server, hard: false)
                Self.close(client, hard: true)
                continue
            }
            for descriptor in [client, server] {
                Self.prepare(descriptor)
                var one: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            }
            let toServer = Flow(from: client, to: server, direction: .toServer)
            let toClient = Flow(from: server, to: client, direction: .toClient)
            connections.append(Connection(flows: [toServer, toClient]))
        }
    }

    /// Forgets what has ended on both sides.
    private mutating func bury() {
        for index in connections.indices where !connections[index].isOver {
            let connection = connections[index]
            let isDone = connection.flows.allSatisfy { $0.isShut || (connection.isLost && $0.isEnded) }
            guard isDone else { continue }
            close(connection, hard: false)
            connections[index].isOver = true
        }
        connections.removeAll { $0.isOver }
    }

    private func close(_ connection: Connection, hard: Bool) {
        for flow in connection.flows { Self.close(flow.from, hard: hard) }
    }

    private static func close(_ descriptor: Int32, hard: Bool) {
        if hard {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }

    // MARK: Waiting

    private mutating func wait() {
        var events = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        events.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        var next: BootInstant?
        let now = time.boot()
        for flow in connections.flatMap(\.flows) {
            if flow.hasRoom { events.append(pollfd(fd: flow.from, events: Int16(POLLIN), revents: 0)) }
            guard let first = flow.pending.first else { continue }
            if first.due <= now {
                events.append(pollfd(fd: flow.to, events: Int16(POLLOUT), revents: 0))
            } else {
                next = next.map { min($0, first.due) } ?? first.due
            }
        }
        let milliseconds = next.map { Int32((now.duration(to: $0).inSeconds * 1000).rounded(.up)) } ?? -1
        _ = poll(&events, nfds_t(events.count), milliseconds)
        var rest = [UInt8](repeating: 0, count: 64)
        while read(wake, &rest, rest.count) > 0 {}
        accept()
    }
}
