import DataPoints
import Diagnostics
import Sockets
import TestKit
import Testing

@testable import Simulator

/// What the MQTT door does on the wire, in literal bytes.
@Suite("The MQTT door", .timeLimit(.minutes(5)))
struct MQTTDoorTests {
    @Test("a log-in, a subscription and a message are answered byte for byte")
    func literal() async throws {
        let world = try WireWorld()
        let client = try world.connect()

        // CONNECT: MQTT 3.1.1, clean, user "ada", password "k", keep-alive 60, client id "c1".
        client.send([0x10, 0x16, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0xC2, 0x00, 0x3C])
        client.send([0x00, 0x02, 0x63, 0x31, 0x00, 0x03, 0x61, 0x64, 0x61, 0x00, 0x01, 0x6B])
        try await client.expect([0x20, 0x02, 0x00, 0x00])
        // SUBSCRIBE 7 to "ada/f/x" with QoS 2: 1 is granted.
        client.send([0x82, 0x0C, 0x00, 0x07, 0x00, 0x07, 0x61, 0x64, 0x61, 0x2F, 0x66, 0x2F, 0x78, 0x02])
        try await client.expect([0x90, 0x03, 0x00, 0x07, 0x01])
        // PUBLISH QoS 1 id 9 "ON", retained: PUBACK 9 first, then the message itself with QoS 1 and not retained.
        client.send([0x33, 0x0D, 0x00, 0x07, 0x61, 0x64, 0x61, 0x2F, 0x66, 0x2F, 0x78, 0x00, 0x09, 0x4F, 0x4E])
        try await client.expect([0x40, 0x02, 0x00, 0x09])
        try await client.expect([
            0x32, 0x0D, 0x00, 0x07, 0x61, 0x64, 0x61, 0x2F, 0x66, 0x2F, 0x78, 0x00, 0x01, 0x4F, 0x4E,
        ])
        client.send([0x40, 0x02, 0x00, 0x01])
        // UNSUBSCRIBE 8, PINGREQ.
        client.send([0xA2, 0x0B, 0x00, 0x08, 0x00, 0x07, 0x61, 0x64, 0x61, 0x2F, 0x66, 0x2F, 0x78])
        try await client.expect([0xB0, 0x02, 0x00, 0x08])
        client.send(WireWorld.publish("ada/f/x", "OFF"))
        try await client.expectNothing()
        client.send([0xE0, 0x00])
        #expect(try await client.readToEnd().isEmpty)
    }

    @Test(
        "a log-in that is refused gets its code and is closed",
        arguments: [
            (WireWorld.login("c1", key: "wrong"), 5),
            (WireWorld.login("c1", user: "eve"), 5),
            // No user name.
            ([0x10, 0x0E, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0x02, 0x00, 0x3C, 0x00, 0x02, 0x63, 0x31], 4),
            // MQTT 5.
            ([0x10, 0x0D, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x05, 0x02, 0x00, 0x3C, 0x00, 0x00, 0x00], 1),
            // No client id and no clean session.
            (
                [
                    0x10, 0x14, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0xC0, 0x00, 0x3C, 0x00, 0x00, 0x00, 0x03,
                    0x61, 0x64, 0x61, 0x00, 0x01, 0x6B,
                ], 2
            ),
        ] as [([UInt8], UInt8)]
    )
    func refused(connect: [UInt8], code: UInt8) async throws {
        let client = try WireWorld().connect()

        client.send(connect)

        #expect(try await client.readToEnd() == [0x20, 0x02, 0x00, code])
    }

    @Test("every CONNACK code can be asked for", arguments: [1, 2, 3, 4, 5, 6, 7] as [UInt8])
    func connackFault(code: UInt8) async throws {
        let world = try WireWorld(faults: [.connack(code: code, count: 1)])
        let client = try world.connect()

        client.send(WireWorld.login("c1"))

        #expect(try await client.readToEnd() == [0x20, 0x02, 0x00, code])
        #expect(world.service.counters["ada"]?.refusedLogins == 1)
        _ = try await world.client("c2")
    }

    @Test(
        "anything malformed closes that connection and no other",
        arguments: [
            [0xC0, 0x00],  // no CONNECT first
            [0x47, 0x45, 0x54, 0x20, 0x2F, 0x20],  // an HTTP client
            WireWorld.login("c2") + WireWorld.login("c2"),
            WireWorld.login("c2") + [0x30, 0xFF, 0xFF, 0xFF, 0x7F],
            WireWorld.login("c2") + [0x34, 0x06, 0x00, 0x01, 0x61, 0x00, 0x01, 0x62],  // QoS 2
            WireWorld.login("c2") + [0xF0, 0x00],
        ] as [[UInt8]]
    )
    func malformed(bytes: [UInt8]) async throws {
        let world = try WireWorld()
        let other = try await world.client("c1")
        let client = try world.connect()

        client.send(bytes)

        let answer = try await client.readToEnd()
        #expect(answer.isEmpty || answer == [0x20, 0x02, 0x00, 0x00])
        try await other.expectNothing()
    }

    @Test("a client id in use is taken over: the older connection is closed, without its will")
    func takeover() async throws {
        let world = try WireWorld()
        let older = try await world.client("c1")
        let newer = try await world.client("c1")

        #expect(try await older.readToEnd().isEmpty)
        try await newer.expectNothing()
    }

    @Test("one id on two accounts is two clients")
    func sameIdOfTwo() async throws {
        let world = try WireWorld()
        let ada = try await world.client("c1")
        let bob = try world.connect()
        bob.send(WireWorld.login("c1", key: "b", user: "bob"))
        try await bob.expect([0x20, 0x02, 0x00, 0x00])

        try await ada.expectNothing()
        try await bob.expectNothing()
    }

    @Test("one and a half times the keep-alive without a packet closes, a ping in between does not")
    func keepAlive() async throws {
        let world = try WireWorld()
        let client = try world.connect()
        client.send(WireWorld.login("c1", keepAlive: 10))
        try await client.expect([0x20, 0x02, 0x00, 0x00])
        world.time.advance(by: .seconds(14))
        try await client.expectNothing()
        world.time.advance(by: .seconds(14))
        try await client.expectNothing()

        await world.time.untilSleeping()
        world.time.advance(by: .seconds(15))

        #expect(try await client.readToEnd().isEmpty)
    }

    @Test("a connection that never says who it is is closed")
    func noConnect() async throws {
        let world = try WireWorld()
        let client = try world.connect()
        await world.time.untilSleeping()

        world.time.advance(by: .seconds(10))

        #expect(try await client.readToEnd().isEmpty)
    }

    @Test("a will is published after its delay, and not when the client is back before")
    func will() async throws {
        let world = try WireWorld()
        let watcher = try await world.client("w1")
        watcher.send(WireWorld.subscribe("ada/f/w"))
        try await watcher.expect([0x90, 0x03, 0x00, 0x01, 0x00])
        // CONNECT with the will "gone" on ada/f/w.
        var connect: [UInt8] = [0x10, 0x25, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0xC6, 0x00, 0x00]
        connect += [0x00, 0x02, 0x63, 0x31, 0x00, 0x07] + Array("ada/f/w".utf8)
        connect += [0x00, 0x04, 0x67, 0x6F, 0x6E, 0x65, 0x00, 0x03, 0x61, 0x64, 0x61, 0x00, 0x01, 0x6B]

        // Lost, and back in time: no will. Taken over is no loss either.
        for _ in 0..<2 {
            let client = try world.connect()
            client.send(connect)
            try await client.expect([0x20, 0x02, 0x00, 0x00])
            client.vanish()
            await until(world) { $0.service.sessions.count == 1 }
            world.time.advance(by: .seconds(299))
            try await watcher.expectNothing()
        }
        world.time.advance(by: .seconds(1))
        try await watcher.expect([0x30, 0x0D, 0x00, 0x07] + Array("ada/f/wgone".utf8))

        // A DISCONNECT forgets the will.
        let polite = try world.connect()
        polite.send(connect)
        try await polite.expect([0x20, 0x02, 0x00, 0x00])
        polite.send([0xE0, 0x00])
        #expect(try await polite.readToEnd().isEmpty)
        world.time.advance(by: .seconds(600))
        try await watcher.expectNothing()
    }

    /// Asks on the service's own thread, again and again: each question is a round of its loop.
    private func until(_ world: WireWorld, _ condition: @escaping @Sendable (WireWorld) -> Bool) async {
        while await !world.service.executor.run({ condition(world) }) { await Task.yield() }
    }

    @Test("QoS 2 can be dropped, or accepted with its handshake")
    func qos2() async throws {
        let message: [UInt8] = [
            0x34, 0x0C, 0x00, 0x07, 0x61, 0x64, 0x61, 0x2F, 0x66, 0x2F, 0x78, 0x00, 0x05, 0x31,
        ]
        var options = SimulatorOptions()
        options.qos2 = .drop
        let dropping = try WireWorld(options: options)
        let first = try await dropping.client("c1")
        first.send(message)
        try await first.expectNothing()
        #expect(dropping.service.counters["ada"]?.points == 0)

        options.qos2 = .accept
        let accepting = try WireWorld(options: options)
        let second = try await accepting.client("c1")
        second.send(message + message)
        try await second.expect([0x50, 0x02, 0x00, 0x05, 0x50, 0x02, 0x00, 0x05])
        second.send([0x62, 0x02, 0x00, 0x05])
        try await second.expect([0x70, 0x02, 0x00, 0x05])
        #expect(accepting.service.counters["ada"]?.points == 1)
    }
}
