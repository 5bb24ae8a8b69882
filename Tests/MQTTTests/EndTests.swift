import Diagnostics
import MQTT
import TestKit
import Testing

@Suite("The end of a connection", .timeLimit(.minutes(5)))
struct EndTests {
    @Test("is told when the peer closes", arguments: [ScriptedPeer.Step.close, .reset])
    func closedByPeer(how: ScriptedPeer.Step) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), how]])

        let connection = try await MQTTConnection.connect(.local(peer.port))

        #expect(await connection.ended == .closedByPeer)
        #expect(connection.endReason == .closedByPeer)
    }

    @Test("is told when the broker dies")
    func brokerDies() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))

        try await broker.stop()

        #expect(await connection.ended == .closedByPeer)
    }

    @Test(
        "has the reason that a peer of MQTT 5 gave",
        arguments: [
            (0x8e, .takenOver), (0x8b, .disconnectedByPeer(code: 0x8b)), (0x00, .closedByPeer),
        ] as [(UInt8, MQTTReason)]
    )
    func goodbyeOfThePeer(code: UInt8, reason: MQTTReason) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send([0x20, 0x03, 0x00, 0x00, 0x00, 0xe0, 0x01, code]), .drain]])

        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.version = .v5 })

        let ended = await connection.ended
        #expect(ended == reason)
    }

    @Test("is no more than a closed connection when another client takes the id over in MQTT 3.1.1")
    func takenOver() async throws {
        let broker = try await Broker.start()
        let configuration = MQTTConfiguration.local(broker.port) { $0.clientID = "twin" }

        let first = try await MQTTConnection.connect(configuration)
        let second = try await MQTTConnection.connect(configuration)

        let ended = await first.ended
        #expect(ended == .closedByPeer)
        #expect(second.endReason == nil)
        await second.disconnect()
    }

    @Test("is told when a half-open link fell silent")
    func halfOpen() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port) { $0.keepAlive = .seconds(5) })

        broker.freeze()
        let error = try await failure { try await connection.publish("x", to: "a") }

        let ended = await connection.ended
        #expect(ended == .keepAlive)
        #expect(error?.reason == .keepAlive)
        #expect(error?.isUnknown == true)
        broker.thaw()
    }

    @Test("shows the age of the oldest message that was not acknowledged, by the boot-time clock")
    func oldestMessage() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .drain]])
        let time = ManualTime()
        let connection = try await MQTTConnection.connect(.local(peer.port), time: time)
        let before = time.boot()

        async let outcome = failure { try await connection.publish("x", to: "a") }
        try await until("the message is on its way") { connection.health.inFlight == 1 }
        time.advance(by: .seconds(20))

        #expect(connection.oldestUnacknowledged == before)
        await connection.disconnect()
        #expect(try await outcome?.isUnknown == true)
    }

    @Test("pings a quiet peer and stays connected")
    func pings() async throws {
        // It answers many pings: on a busy machine this test may be late.
        let answers = Array(repeating: [ScriptedPeer.Step.awaitPacket, .send([0xd0, 0x00])], count: 100).flatMap(\.self)
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted)] + answers])
        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.keepAlive = .seconds(5) })

        await peer.untilPackets(2)

        #expect(peer.packets()[1] == [0xc0, 0x00])
        #expect(connection.endReason == nil)
        await connection.disconnect()
    }

    @Test(
        "is told when the peer does not keep to the protocol",
        arguments: [
            [0x00, 0x00],  // no such packet
            [0xf0, 0x00],  // AUTH, not in 3.1.1
            [0x30, 0xff, 0xff, 0xff, 0xff, 0x7f],  // a length of five bytes
            [0x40, 0x02, 0x00, 0x00],  // PUBACK of id 0
            [0x90, 0x02, 0x00, 0x01],  // SUBACK without codes
        ] as [[UInt8]]
    )
    func nonsense(bytes: [UInt8]) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted + bytes), .drain]])

        let outcome = try await failure {
            let connection = try await MQTTConnection.connect(.local(peer.port))
            throw MQTTError(await connection.ended, while: "waiting")
        }

        #expect(outcome?.reason == .protocolViolation)
    }

    @Test("a wait for it can be cancelled")
    func waitIsCancelled() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .drain]])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let wait = Task { await connection.endedUnlessCancelled() }
        wait.cancel()

        #expect(await wait.value == nil)
        await connection.disconnect()
    }

    @Test("a goodbye does not wait for a peer that reads nothing")
    func goodbyeIsBounded() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .hang]])
        let connection = try await MQTTConnection.connect(.local(peer.port))
        // More than the buffers of both sockets hold.
        let large = MQTTPublication(topic: "a", payload: Array(repeating: 0, count: 16_000_000), qos: .atMostOnce)
        async let errors = connection.publish([large])
        try await until("the message is on its way") { connection.health.inFlight == 1 }

        await connection.disconnect()

        #expect(connection.endReason == .disconnected)
        #expect(await errors.first??.isUnknown == true)
    }

    @Test("after it, nothing is accepted, and nothing goes out with the next connection")
    func refusesAfterwards() async throws {
        let broker = try await Broker.start()
        let first = try await MQTTConnection.connect(.local(broker.port))
        try await broker.stop()
        _ = await first.ended

        let error = try await failure { try await first.publish("lost", to: "a") }
        let refused = try await failure { _ = try await first.subscribe(to: "a", qos: .atMostOnce, buffer: .newest(1)) }
        #expect(error?.reason == .notConnected && error?.isUnknown == false)
        #expect(refused?.reason == .notConnected)

        try await broker.restart()
        let subscriber = try await broker.subscriber(["-t", "a", "-C", "1"])
        let second = try await MQTTConnection.connect(.local(broker.port))
        try await second.publish("kept", to: "a")
        try await subscriber.ended()
        #expect(subscriber.output.contains("a kept") && !subscriber.output.contains("lost"))
        await second.disconnect()
    }
}
