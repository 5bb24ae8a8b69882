import MQTT
import TestKit
import Testing

@Suite("Publishing", .timeLimit(.minutes(5)))
struct PublishTests {
    /// A connection to a peer that follows `script` after CONNACK, with a window of `window`.
    private func connect(
        _ script: [ScriptedPeer.Step],
        window: Int = 20
    ) async throws -> (ScriptedPeer, MQTTConnection) {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted)] + script])
        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.inFlightWindow = window })
        return (peer, connection)
    }

    @Test(
        "brings a message to a foreign client",
        arguments: [MQTTQoS.atMostOnce, .atLeastOnce, .exactlyOnce],
        [MQTTConfiguration.Version.v311, .v5]
    )
    func arrives(qos: MQTTQoS, version: MQTTConfiguration.Version) async throws {
        let broker = try await Broker.start()
        let subscriber = try await broker.subscriber(["-t", "a/b", "-q", "2", "-C", "2", "-F", "%t|%q|%r|%l|%p"])
        let connection = try await MQTTConnection.connect(.local(broker.port) { $0.version = version })

        try await connection.publish("grüße", to: "a/b", qos: qos)
        try await connection.publish([], to: "a/b", qos: qos)

        try await subscriber.ended()
        #expect(subscriber.output.contains("a/b|\(qos.rawValue)|0|7|grüße\n"))
        #expect(subscriber.output.contains("a/b|\(qos.rawValue)|0|0|\n"))
        #expect(connection.health.acknowledged == 2)
        await connection.disconnect()
    }

    @Test("has a message kept by the broker when asked to")
    func retains() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))

        try await connection.publish("kept", to: "a", retain: true)

        let subscriber = try await broker.subscriber(["-t", "a", "-C", "1", "-F", "%r %p"])
        try await subscriber.ended()
        #expect(subscriber.output.contains("1 kept"))
        await connection.disconnect()
    }

    @Test("writes PUBLISH as MQTT 3.1.1 does, and returns for QoS 1 only after PUBACK")
    func awaitsPuback() async throws {
        let (peer, connection) = try await connect([.awaitPacket, .awaitPacket, .send(Bytes.puback(1)), .drain])

        async let first: Void = connection.publish("one", to: "t")
        await peer.untilPackets(2)
        #expect(connection.health.acknowledged == 0)
        // QoS 0: the peer goes on to the PUBACK when this has come.
        try await connection.publish("0", to: "z", qos: .atMostOnce)
        try await first

        #expect(peer.packets()[1] == [0x32, 8, 0, 1] + Array("t".utf8) + [0, 1] + Array("one".utf8))
        #expect(peer.packets()[2] == [0x30, 4, 0, 1] + Array("z0".utf8))
        #expect(connection.health.acknowledged == 2)
        await connection.disconnect()
    }

    @Test("QoS 0 returns although the library reports it before its call has returned")
    func acknowledgedWithinTheCall() async throws {
        let (peer, connection) = try await connect([.drain])

        for _ in 0..<200 { try await connection.publish("x", to: "t", qos: .atMostOnce) }

        #expect(connection.health.acknowledged == 200)
        await connection.disconnect()
        await peer.finished()
        #expect(peer.received().count(where: { $0 == 0x30 }) == 200)
    }

    @Test("keeps the order of a batch, and has no more on its way than the window")
    func keepsToTheWindow() async throws {
        let (peer, connection) = try await connect(
            [.awaitPacket, .awaitPacket, .awaitPacket, .send(Bytes.puback(1)), .awaitPacket, .drain],
            window: 3
        )
        let batch = (0..<50).map { MQTTPublication(topic: "t", payload: [UInt8($0)]) }

        async let errors = connection.publish(batch)
        await peer.untilPackets(5)
        try await until("the numbers show it") { connection.health.waiting == 46 && connection.health.inFlight == 3 }
        await connection.disconnect()
        await peer.finished()

        // Three, and a fourth once the first was acknowledged.
        #expect(peer.packets().dropFirst().map { $0.last } == [0, 1, 2, 3])
        #expect(peer.received().suffix(2) == Bytes.disconnect)
        #expect(peer.received().count == (peer.packets().map(\.count).reduce(0, +)) + 2)
        let settled = await errors
        #expect(settled.first == .some(nil))
        #expect(settled.dropFirst().map { $0?.isUnknown } == [true, true, true] + Array(repeating: false, count: 46))
    }

    @Test("batches that are handed over one after the other arrive in that order, though nobody waits in between")
    func submits() async throws {
        let broker = try await Broker.start { $0.extraLines = ["max_queued_messages 0"] }
        let subscriber = try await broker.subscriber(["-t", "a", "-q", "1", "-C", "4000", "-F", "%p"])
        let connection = try await MQTTConnection.connect(.local(broker.port))

        let submissions = (0..<40).map { batch in
            connection.submit(
                (0..<100).map { MQTTPublication(topic: "a", payload: Array("n\(batch * 100 + $0)".utf8)) }
            )
        }
        for submission in submissions { #expect(await submission.errors.allSatisfy { $0 == nil }) }

        try await subscriber.ended()
        let lines = subscriber.output.split(separator: "\n").filter { $0.hasPrefix("n") }
        #expect(lines.map(String.init) == (0..<4000).map { "n\($0)" })
        await connection.disconnect()
        let late = await connection.submit([MQTTPublication(topic: "a", payload: [])]).errors
        #expect(late.count == 1 && late.first??.isUnknown == false)
    }

    @Test("sends many more than 65,535 messages in order, ids wrapping around")
    func wrapsIDs() async throws {
        let broker = try await Broker.start { $0.extraLines = ["max_queued_messages 0"] }
        let connection = try await MQTTConnection.connect(.local(broker.port))
        let subscription = try await connection.subscribe(to: "n", qos: .atMostOnce, buffer: .all(upTo: 100_000))
        let batch = (0..<70_000).map { MQTTPublication(topic: "n", payload: Array(String($0).utf8)) }

        #expect(await connection.publish(batch).allSatisfy { $0 == nil })

        let messages = await first(70_000, of: subscription)
        let isInOrder = messages.map(\.text) == (0..<70_000).map(String.init)
        #expect(isInOrder)
        await connection.disconnect()
    }

    @Test("a message that waits for room and is cancelled is unsent; one that the library has is unknown")
    func cancels() async throws {
        let (peer, connection) = try await connect([.awaitPacket, .drain], window: 1)

        let handed = Task { try await connection.publish("handed", to: "t") }
        await peer.untilPackets(2)
        let waiting = Task { try await connection.publish("waiting", to: "t") }
        try await until("it waits") { connection.health.waiting == 1 }
        waiting.cancel()
        let unsent = try await failure { try await waiting.value }
        handed.cancel()
        let unknown = try await failure { try await handed.value }

        #expect(unsent?.reason == .cancelled && unsent?.isUnknown == false)
        #expect(unknown?.reason == .cancelled && unknown?.isUnknown == true)
        await connection.disconnect()
        await peer.finished()
        #expect(!String(decoding: peer.received(), as: UTF8.self).contains("waiting"))
    }

    @Test("a task that is cancelled before it publishes sends nothing")
    func cancelledBefore() async throws {
        let (peer, connection) = try await connect([.drain])

        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connection.publish("never", to: "t")
        }
        let error = try await failure { try await task.value }

        #expect(error?.reason == .cancelled && error?.isUnknown == false)
        await connection.disconnect()
        await peer.finished()
        #expect(peer.received().count == Bytes.disconnect.count + (peer.packets().first?.count ?? 0))
    }

    @Test("when the link breaks, what was on its way is unknown and what waited is unsent")
    func linkBreaks() async throws {
        let (peer, connection) = try await connect([.awaitPacket, .close], window: 1)

        let errors = await connection.publish([
            MQTTPublication(topic: "t", payload: [1]), MQTTPublication(topic: "t", payload: [2]),
        ])

        #expect(errors.map { $0?.reason } == [.closedByPeer, .closedByPeer])
        #expect(errors.map { $0?.isUnknown } == [true, false])
        await peer.finished()
    }

    @Test("never sends again by itself: the next connection carries only its own messages, without DUP")
    func noSecondOwner() async throws {
        let peer = ScriptedPeer([
            [.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .close],
            [.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .send(Bytes.puback(1)), .drain],
        ])
        for cleanSession in [true, false] {
            let configuration = MQTTConfiguration.local(peer.port) {
                $0.clientID = "me"
                $0.cleanSession = cleanSession
            }
            let connection = try await MQTTConnection.connect(configuration)
            let error = try await failure { try await connection.publish(cleanSession ? "lost" : "new", to: "t") }
            #expect((error?.isUnknown ?? false) == cleanSession)
            await connection.disconnect()
        }
        await peer.finished(1)

        #expect(peer.packets(1).last == [0x32, 8, 0, 1] + Array("t".utf8) + [0, 1] + Array("new".utf8))
        #expect(!String(decoding: peer.received(1), as: UTF8.self).contains("lost"))
    }

    @Test("refuses a topic that is none, alone, and sends the rest", arguments: ["", "a/+", "#", "a\u{0}b", "a\nb"])
    func invalidTopics(topic: String) async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))

        let errors = await connection.publish([
            MQTTPublication(topic: "good", payload: [1]), MQTTPublication(topic: topic, payload: [2]),
            MQTTPublication(topic: "good", payload: [3]),
        ])

        #expect(errors.map { $0?.reason } == [nil, .invalidTopic(topic), nil])
        #expect(errors[1]?.isRetriable == false && errors[1]?.isUnknown == false)
        #expect(connection.endReason == nil)
        await connection.disconnect()
    }

    @Test("says when the broker takes no message of this size, and goes on")
    func tooLarge() async throws {
        let broker = try await Broker.start { $0.extraLines = ["max_packet_size 1000"] }
        let connection = try await MQTTConnection.connect(.local(broker.port) { $0.version = .v5 })

        let error = try await failure { try await connection.publish(Array(repeating: 0, count: 2000), to: "t") }
        try await connection.publish("small", to: "t")

        #expect(error?.reason == .payloadTooLarge && error?.isUnknown == false)
        await connection.disconnect()
    }

    @Test("says when a broker of MQTT 5 does not accept a message")
    func refused() async throws {
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send([0x20, 0x03, 0x00, 0x00, 0x00]), .awaitPacket,
                .send([0x40, 0x03, 0x00, 0x01, 0x97]), .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.version = .v5 })

        let error = try await failure { try await connection.publish("x", to: "t") }

        #expect(error?.reason == .publishRefused(code: 0x97) && error?.isUnknown == false)
        await connection.disconnect()
    }

    @Test("has no more on its way than a broker of MQTT 5 wants")
    func receiveMaximum() async throws {
        let peer = ScriptedPeer([
            [
                .awaitPacket, .send([0x20, 0x06, 0x00, 0x00, 0x03, 0x21, 0x00, 0x02]), .awaitPacket, .awaitPacket,
                .drain,
            ]
        ])
        let connection = try await MQTTConnection.connect(.local(peer.port) { $0.version = .v5 })

        async let errors = connection.publish((0..<10).map { MQTTPublication(topic: "t", payload: [$0]) })
        await peer.untilPackets(3)

        try await until("the numbers show it") { connection.health.inFlight == 2 && connection.health.waiting == 8 }
        await connection.disconnect()
        #expect(await errors.compactMap(\.self).count(where: \.isUnknown) == 2)
    }

    @Test("publishes an answer to a message while messages come in")
    func answersWhileReceiving() async throws {
        let broker = try await Broker.start()
        let connection = try await MQTTConnection.connect(.local(broker.port))
        let questions = try await connection.subscribe(to: "ask", qos: .atLeastOnce, buffer: .all(upTo: 100))
        let answers = try await connection.subscribe(to: "answer", qos: .atLeastOnce, buffer: .all(upTo: 100))

        let responder = Task {
            for await question in questions.messages {
                try await connection.publish("re: \(question.text)", to: "answer")
            }
        }
        for number in 0..<50 { try await connection.publish("\(number)", to: "ask") }

        let texts = await first(50, of: answers).map(\.text)
        #expect(texts == (0..<50).map { "re: \($0)" })
        await connection.disconnect()
        try await responder.value
    }

    @Test("an empty batch is done at once")
    func emptyBatch() async throws {
        let (peer, connection) = try await connect([.drain])

        #expect(await connection.publish([]).isEmpty)
        await connection.disconnect()
        await peer.finished()
    }

    @Test("the will is published when the client vanishes, and not when it says goodbye")
    func will() async throws {
        let broker = try await Broker.start()
        let subscriber = try await broker.subscriber(["-t", "state", "-C", "1"])
        func connect(_ text: String, as id: String) async throws -> MQTTConnection {
            try await MQTTConnection.connect(
                .local(broker.port) {
                    $0.clientID = id
                    $0.will = MQTTWill(topic: "state", payload: Array(text.utf8))
                }
            )
        }

        await (try connect("polite", as: "one")).disconnect()
        _ = try await connect("vanished", as: "two")
        let vanishing = try await connect("vanished", as: "three")
        // Taken over: to the broker, the first one is gone without a goodbye.
        let successor = try await MQTTConnection.connect(.local(broker.port) { $0.clientID = "three" })
        _ = await vanishing.ended

        try await subscriber.ended()
        #expect(subscriber.output.contains("state vanished") && !subscriber.output.contains("polite"))
        await successor.disconnect()
    }
}
