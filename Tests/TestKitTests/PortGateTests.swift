import TestKit
import Testing

@Suite("Port gate", .timeLimit(.minutes(5)))
struct PortGateTests {
    private func publish(_ port: Int) async throws -> ChildProcess {
        let client = try ChildProcess("mosquitto_pub", ["-h", "127.0.0.1", "-p", "\(port)", "-t", "a", "-m", "x"])
        try await client.ended()
        return client
    }

    @Test("carries bytes both ways while it is open, refuses while it is closed, and carries again")
    func opensAndCloses() async throws {
        let refusal: [ScriptedPeer.Step] = [.awaitPacket, .send([0x20, 0x02, 0x00, 0x05]), .close]
        let peer = ScriptedPeer([refusal, refusal])
        let gate = PortGate(to: peer.port)

        #expect(try await publish(gate.port).talk.contains("not authorised"))
        gate.shut()
        #expect(!LocalPorts.accepts(gate.port))
        #expect(try await publish(gate.port).talk.contains("refused"))
        gate.open()
        #expect(try await publish(gate.port).talk.contains("not authorised"))
    }

    @Test("ends the connections that it carries when it is closed")
    func endsConnections() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send([0x20, 0x02, 0x00, 0x00]), .drain]])
        let gate = PortGate(to: peer.port)
        let client = try ChildProcess("mosquitto_sub", ["-h", "127.0.0.1", "-p", "\(gate.port)", "-t", "a"])
        try await until("the client has connected") { peer.packets().count >= 1 && client.isRunning }

        gate.shut()

        await peer.finished()
        #expect(peer.packets().count >= 1)
        client.signal()
    }
}
