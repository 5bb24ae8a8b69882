import Diagnostics
import Glibc
import Testing

@testable import TestKit

@Suite("Fault proxy", .timeLimit(.minutes(5)))
struct FaultProxyTests {
    private static func publish(_ port: Int, _ text: String) throws -> ChildProcess {
        try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-i", "me", "-q", "1", "-t", "a", "-m", text]
        )
    }

    @Test("a black hole swallows bytes and ends: neither side hears of the other, and a new connection works after it")
    func blackHole() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .drain], [.awaitPacket, .send([0x20, 2, 0, 5]), .close]])
        let proxy = FaultProxy(to: peer.port)
        proxy.set(.blackHole)

        let lost = try Self.publish(proxy.port, "x")
        try await until("the CONNECT is swallowed") { proxy.counts.swallowed >= 16 }
        #expect(lost.isRunning)
        lost.signal(9)
        try await lost.ended()
        proxy.set(.fair)
        let next = try Self.publish(proxy.port, "x")

        #expect(try await next.ended() == 5)
        #expect(proxy.counts.connections == 2)
        // The first connection got no byte, and was not closed, although its client is long gone.
        await peer.finished(1)
        #expect(peer.received(0).isEmpty)
        #expect(!peer.isFinished(0))
    }

    @Test("one by one, all bytes arrive and foreign programs understand each other")
    func oneByOne() async throws {
        let broker = try await Broker.start()
        let proxy = FaultProxy(to: broker.port)
        proxy.set(.oneByOne)
        // stdbuf: a line reaches the file when it is said.
        let listener = try ChildProcess(
            "stdbuf",
            ["-oL", "mosquitto_sub", "-h", "127.0.0.1", "-p", "\(proxy.port)", "-q", "1", "-t", "a", "-d", "-C", "1"]
        )
        try await listener.untilOutput(contains: "Subscribed")
        let text = String(repeating: "0123456789", count: 30)

        #expect(try await Self.publish(proxy.port, text).ended() == 0)
        try await listener.ended()

        #expect(listener.output.contains(text))
        #expect(proxy.counts.single > 2 * text.utf8.count)
    }

    @Test("a connection is reset right after the packet that was named, which still arrives")
    func cut() async throws {
        let taken: [ScriptedPeer.Step] = [.awaitPacket, .send([0x20, 2, 0, 0]), .awaitPacket, .drain]
        let peer = ScriptedPeer([taken])
        let proxy = FaultProxy(to: peer.port)
        proxy.strike(.reset, afterPackets: 1, ofKind: 3, .toServer)

        let client = try Self.publish(proxy.port, "x")
        await peer.finished()

        // CONNECT, and the PUBLISH with all its bytes; the client lost its connection instead of getting a PUBACK.
        #expect(peer.packets().map { $0[0] >> 4 } == [1, 3])
        #expect(peer.packets().last == [0x32, 6, 0, 1] + Array("a".utf8) + [0, 1] + Array("x".utf8))
        try await until("the connection is reset") { proxy.counts.resets == 1 }
        client.signal(9)
    }

    @Test("a connection falls into a black hole right after the packet that was named, of whatever kind")
    func blackHoleAfterAPacket() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send([0x20, 2, 0, 0]), .drain]])
        let proxy = FaultProxy(to: peer.port)
        proxy.strike(.blackHole, afterPackets: 1, .toClient)

        let client = try Self.publish(proxy.port, "x")
        try await until("the PUBLISH is swallowed") { proxy.counts.swallowed >= 8 }

        #expect(proxy.counts.blows == 1 && proxy.counts.resets == 0)
        #expect(proxy.counts.packetsToServer == 1 && proxy.counts.packetsToClient == 1)
        #expect(peer.packets().map { $0[0] >> 4 } == [1])
        #expect(client.isRunning && !peer.isFinished(0))
        client.signal(9)
    }

    @Test("a half-close after a packet ends that direction, and the other one goes on")
    func halfCloseAfterAPacket() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send([0x20, 2, 0, 5]), .awaitBytes(3), .drain]])
        let proxy = FaultProxy(to: peer.port)
        proxy.strike(.halfClose, afterPackets: 1, ofKind: 2, .toClient)
        let client = RawClient(proxy.port)

        client.send([0x10, 0])
        try await until("the client sees the end") { client.isAtEnd }
        client.send([1, 2, 3])
        try await until("the server still gets bytes") { peer.received(0).count == 5 }

        #expect(client.received == [0x20, 2, 0, 5])
        #expect(peer.received(0) == [0x10, 0, 1, 2, 3] && !peer.isFinished(0))
        client.close()
        await peer.finished(0)
    }

    @Test("a half-close and a reset reach the other side")
    func ends() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .drain], [.drain]])
        let proxy = FaultProxy(to: peer.port)
        let first = RawClient(proxy.port)
        first.send([0x10, 0])
        await peer.untilPackets(1)
        proxy.halfClose(.toServer)
        await peer.finished(0)

        let second = RawClient(proxy.port)
        second.send([0x10, 0])
        try await until("the second connection stands") { peer.received(1).count == 2 }
        proxy.reset()
        await peer.finished(1)

        try await until("the client is reset") { second.isReset }
        #expect(proxy.counts.resets >= 1)
    }

    @Test("delayed bytes come so much later, in their order")
    func delay() async throws {
        let peer = ScriptedPeer([[.awaitBytes(4), .send([9]), .drain]])
        let proxy = FaultProxy(to: peer.port)
        proxy.set(.delayed(.milliseconds(60)))
        let client = RawClient(proxy.port)

        let start = ContinuousClock.now
        for byte in 1...4 as ClosedRange<UInt8> { client.send([byte]) }
        try await until("the answer is here") { client.isAnswered }

        #expect(start.duration(to: .now) >= .milliseconds(120))
        #expect(peer.received(0) == [1, 2, 3, 4])
        client.close()
    }

    @Test("a narrow way takes its time, and loses nothing")
    func bandwidth() async throws {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
        let peer = ScriptedPeer([[.awaitBytes(bytes.count), .send([9]), .drain]])
        let proxy = FaultProxy(to: peer.port)
        proxy.set(.narrow(bytesPerSecond: 100_000))
        let client = RawClient(proxy.port)

        let start = ContinuousClock.now
        client.send(bytes)
        try await until("the answer is here") { client.isAnswered }

        #expect(start.duration(to: .now) >= .milliseconds(190))
        #expect(peer.received(0) == bytes)
        client.close()
    }

    @Test("packets are counted however the bytes are cut, and what is no MQTT does no harm")
    func counting() {
        // CONNECT with 130 bytes, PUBLISH with none, PINGREQ.
        let packets: [UInt8] = [0x10, 0x82, 1] + [UInt8](repeating: 0, count: 130) + [0x30, 0, 0xc0, 0]
        for size in [1, 2, 3, 50, 1000] {
            var counter = PacketCounter()
            for start in stride(from: 0, to: packets.count, by: size) {
                counter.pass(packets[start..<min(start + size, packets.count)])
            }
            #expect(counter.total == 3)
        }
        var counter = PacketCounter()
        #expect(counter.length(of: packets[...], until: 1, of: 3) == 135)
        counter = PacketCounter()
        #expect(counter.length(of: packets[...], until: 3, of: nil) == packets.count)
        counter.pass([UInt8](repeating: 0xff, count: 1000)[...])
    }
}

/// A client of plain TCP that waits for nothing.
private final class RawClient: Sendable {
    private struct Seen {
        var bytes: [UInt8] = []
        var isAtEnd = false
        var isReset = false
    }

    private let descriptor: Int32
    private let seen = Guarded(Seen())

    init(_ port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = LocalPorts.loopback(port: port)
        _ = LocalPorts.withSocketAddress(&address) { connect(descriptor, $0, $1) }
    }

    deinit { _ = Glibc.close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    func close() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    var received: [UInt8] { look().bytes }
    var isAnswered: Bool { !look().bytes.isEmpty }
    var isAtEnd: Bool { look().isAtEnd }
    var isReset: Bool { look().isReset }

    private func look() -> Seen {
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        let isReset = count < 0 && errno == ECONNRESET
        return seen.withLock { seen in
            if count == 0 { seen.isAtEnd = true }
            if isReset { seen.isReset = true }
            if count > 0 { seen.bytes += bytes.prefix(count) }
            return seen
        }
    }
}
