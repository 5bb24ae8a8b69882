import MQTT
import TestKit
import Testing

@Suite("Subscribing", .timeLimit(.minutes(5)))
struct SubscribeTests {
    @Test("gets what foreign clients publish, byte for byte", arguments: [MQTTConfiguration.Version.v311, .v5])
    func receives(version: MQTTConfiguration.Version) async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port) { $0.version = version })
        let subscription = try await connection.subscribe(to: "a/+", qos: .exactlyOnce, buffer: .all(upTo: 10))
        #expect(subscription.grantedQoS == .exactlyOnce)

        var messages: [MQTTMessage] = []
        for (text, qos) in [("zero", 0), ("one", 1), ("two\0\u{1F600}", 2), ("", 1)] {
            try await broker.publish(text, to: "a/b", ["-q", "\(qos)"])
            // One by one: a message of QoS 2 arrives with its third packet, and later ones may overtake it.
            messages += await first(1, of: subscription)
        }

        #expect(messages.map(\.payload) == ["zero", "one", "two\0\u{1F600}", ""].map { Array($0.utf8) })
        #expect(messages.map(\.qos.rawValue) == [0, 1, 2, 1])
        #expect(messages.allSatisfy { $0.topic == "a/b" && !$0.retain && !$0.duplicate })
        await connection.disconnect()
    }

    @Test(
        "writes SUBSCRIBE as MQTT 3.1.1 does, and says what was granted",
        arguments: [(0, .atMostOnce), (1, .atLeastOnce)] as [(UInt8, MQTTQoS)]
    )
    func granted(code: UInt8, qos: MQTTQoS) async throws {
        let peer = ScriptedPeer([
            [.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .send(Bytes.suback(1, code)), .drain]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let subscription = try await connection.subscribe(to: "t", qos: .exactlyOnce, buffer: .newest(1))

        #expect(subscription.grantedQoS == qos)
        #expect(peer.packets().last == [0x82, 6, 0, 1, 0, 1] + Array("t".utf8) + [2])
        await connection.disconnect()
    }

    @Test("a second SUBACK for one SUBSCRIBE changes nothing")
    func subackTwice() async throws {
        let message: [UInt8] = [0x30, 4, 0, 1] + Array("tx".utf8)
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .send(Bytes.suback(1, 1)),
                .send(Bytes.suback(1, 1)), .awaitPacket, .send(Bytes.suback(2, 1)), .send(message), .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let subscription = try await connection.subscribe(to: "t", qos: .atLeastOnce, buffer: .all(upTo: 10))
        _ = try await connection.subscribe(to: "u", qos: .atLeastOnce, buffer: .newest(1))

        #expect(await first(1, of: subscription).map(\.payload) == [Array("x".utf8)])
        #expect(connection.endReason == nil)
        await connection.disconnect()
    }

    @Test("throws when the broker refuses, and goes on", arguments: [MQTTConfiguration.Version.v311, .v5])
    func refused(version: MQTTConfiguration.Version) async throws {
        let v5 = version == .v5
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send(v5 ? [0x20, 3, 0, 0, 0] : Bytes.connackAccepted), .awaitPacket,
                .send(v5 ? [0x90, 4, 0, 1, 0, 0x87] : Bytes.suback(1, 0x80)), .awaitPacket,
                .send(v5 ? [0x90, 4, 0, 2, 0, 1] : Bytes.suback(2, 1)), .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.version = version })

        let error = try await failure {
            _ = try await connection.subscribe(to: "secret", qos: .atLeastOnce, buffer: .newest(1))
        }
        #expect(error?.reason == .subscriptionRefused(code: v5 ? 0x87 : 0x80))
        #expect(error?.isRetriable == false)

        let open = try await connection.subscribe(to: "open", qos: .atLeastOnce, buffer: .newest(1))
        #expect(open.grantedQoS == .atLeastOnce)
        await connection.disconnect()
    }

    @Test("loses no message that comes before SUBACK")
    func beforeSuback() async throws {
        let kept: [UInt8] = [0x31, 7, 0, 1] + Array("t".utf8) + Array("kept".utf8)
        let peer = ScriptedPeer([
            [.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .send(kept + Bytes.suback(1, 0)), .drain]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let subscription = try await connection.subscribe(to: "t", qos: .atMostOnce, buffer: .newest(1))

        let message = await first(1, of: subscription).first
        #expect(message == MQTTMessage(topic: "t", payload: Array("kept".utf8), retain: true))
        await connection.disconnect()
    }

    @Test("says which messages the peer has sent before")
    func duplicates() async throws {
        func publish(_ header: UInt8, _ id: UInt8) -> [UInt8] { [header, 6, 0, 1] + Array("t".utf8) + [0, id, id] }
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send(Bytes.connackAccepted), .awaitPacket,
                .send(Bytes.suback(1, 1) + publish(0x32, 7) + publish(0x3a, 7) + publish(0x32, 8)),
                .awaitPacket, .awaitPacket, .awaitPacket, .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))
        let subscription = try await connection.subscribe(to: "t", qos: .atLeastOnce, buffer: .all(upTo: 9))

        let messages = await first(3, of: subscription)
        await peer.untilPackets(5)

        #expect(messages.map(\.payload) == [[7], [7], [8]])
        #expect(messages.map(\.duplicate) == [false, true, false])
        #expect(peer.packets().suffix(3) == [Bytes.puback(7), Bytes.puback(7), Bytes.puback(8)])
        await connection.disconnect()
    }

    @Test("gives each subscription its own buffer, and counts what a full one drops")
    func buffers() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))
        let newest = try await connection.subscribe(to: "n/1", qos: .atLeastOnce, buffer: .newest(1))
        let all = try await connection.subscribe(to: "n/#", qos: .atLeastOnce, buffer: .all(upTo: 3))
        let other = try await connection.subscribe(to: "m", qos: .atLeastOnce, buffer: .all(upTo: 3))

        for number in 0..<5 { try await connection.publish("\(number)", to: "n/1") }
        try await connection.publish("end", to: "m")
        let last = await first(1, of: other)
        await connection.disconnect()

        var (kept, early): ([String], [String]) = ([], [])
        for await message in newest.messages { kept.append(message.text) }
        for await message in all.messages { early.append(message.text) }
        #expect(kept == ["4"] && newest.dropped == 4)
        #expect(early == ["0", "1", "2"] && all.dropped == 2)
        #expect(last.map(\.text) == ["end"] && other.dropped == 0)
        #expect(connection.health.dropped == 6)
    }

    @Test("ends its messages when the connection ends")
    func endsWithTheConnection() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))
        let subscription = try await connection.subscribe(to: "a", qos: .atMostOnce, buffer: .newest(1))

        let reader = Task {
            for await _ in subscription.messages {}
            return true
        }
        try await broker.stop()

        #expect(await reader.value)
        #expect(connection.endReason == .closedByPeer)
    }

    @Test("ends its messages when unsubscribed, and tells the broker only when nobody else reads that filter")
    func unsubscribes() async throws {
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .send(Bytes.suback(1, 0)), .awaitPacket,
                .send(Bytes.suback(2, 0)), .awaitPacket, .send([0xb0, 2, 0, 3]), .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))
        let one = try await connection.subscribe(to: "t", qos: .atMostOnce, buffer: .newest(1))
        let two = try await connection.subscribe(to: "t", qos: .atMostOnce, buffer: .newest(1))

        try await connection.unsubscribe(one)
        for await _ in one.messages { Issue.record("nothing was published") }
        #expect(peer.packets().count == 3)
        try await connection.unsubscribe(two)
        for await _ in two.messages { Issue.record("nothing was published") }

        #expect(peer.packets().last == [0xa2, 5, 0, 3, 0, 1] + Array("t".utf8))
        try await connection.unsubscribe(two)
        await connection.disconnect()
    }

    @Test("can be cancelled, and takes the subscription back when the broker grants it later")
    func cancelled() async throws {
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .awaitPacket, .send(Bytes.suback(1, 0)),
                .awaitPacket, .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port))
        let task = Task { _ = try await connection.subscribe(to: "t", qos: .atMostOnce, buffer: .newest(1)) }
        await peer.untilPackets(2)
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error?.reason == .cancelled && error?.isUnknown == true)

        // The peer grants it after this.
        try await connection.publish("x", to: "u", qos: .atMostOnce)
        await peer.untilPackets(4)
        #expect(peer.packets().last?.first == 0xa2)
        await connection.disconnect()
    }

    @Test("is told when the connection ends before the answer")
    func linkBreaks() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .close]])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let error = try await failure {
            _ = try await connection.subscribe(to: "t", qos: .atMostOnce, buffer: .newest(1))
        }

        #expect(error?.reason == .closedByPeer)
    }

    @Test("refuses a filter that is none", arguments: ["", "a/#/b", "a+", "+a/b", "a#", "a\u{0}"])
    func invalidFilters(filter: String) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .drain]])
        let connection = try await MQTTConnection.connect(.local(peer.port))

        let error = try await failure {
            _ = try await connection.subscribe(to: filter, qos: .atMostOnce, buffer: .newest(1))
        }

        #expect(error?.reason == .invalidTopic(filter))
        await connection.disconnect()
    }

    @Test("a reader that is cancelled loses nothing for the next one")
    func cancelledReader() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))
        let subscription = try await connection.subscribe(to: "a", qos: .atLeastOnce, buffer: .all(upTo: 9))

        let reader = Task { await first(1, of: subscription) }
        reader.cancel()
        #expect(await reader.value.isEmpty)
        try await connection.publish("x", to: "a")

        #expect(await first(1, of: subscription).map(\.text) == ["x"])
        await connection.disconnect()
    }
}
