import TestKit
import Testing

@Suite("Scripted peer", .timeLimit(.minutes(5)))
struct ScriptedPeerTests {
    @Test("answers a foreign client as its script says")
    func answers() async throws {
        // CONNACK 5: not authorised.
        let peer = ScriptedPeer([[.awaitPacket, .send([0x20, 0x02, 0x00, 0x05]), .close]])

        let client = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(peer.port)", "-i", "me", "-t", "a", "-m", "x"]
        )
        let code = try await client.ended()
        await peer.finished()

        #expect(code == 5)
        #expect(client.talk.contains("not authorised"))
        #expect(peer.packets() == [[0x10, 14, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 60, 0, 2] + Array("me".utf8)])
    }
}
