import Diagnostics
import Sockets
import TestKit
import Testing

@testable import Simulator

@Suite("Faults of the MQTT door", .timeLimit(.minutes(5)))
struct MQTTFaultTests {
    static let puback: [UInt8] = [0x40, 0x02, 0x00, 0x01]

    private func publish(_ client: WireClient, _ value: String = "1") {
        client.send(WireWorld.publish("ada/f/x", value, qos: 1))
    }

    @Test("drop-after-puback acknowledges and forgets")
    func dropAfterPuback() async throws {
        let world = try WireWorld(faults: [.dropAfterPuback(every: 2)])
        let client = try await world.client("c1")
        for _ in 0..<4 { publish(client) }

        for _ in 0..<4 { try await client.expect(Self.puback) }

        #expect(world.service.counters["ada"]?.points == 2)
        #expect(world.service.counters["ada"]?.publishes == 4)
    }

    @Test("puback-drop takes the point and does not acknowledge")
    func pubackDrop() async throws {
        let world = try WireWorld(faults: [.pubackDrop(every: 2)])
        let client = try await world.client("c1")
        for _ in 0..<4 { publish(client) }

        for _ in 0..<2 { try await client.expect(Self.puback) }
        try await client.expectNothing()

        #expect(world.service.counters["ada"]?.points == 4)
    }

    @Test("puback-delay acknowledges later")
    func pubackDelay() async throws {
        let world = try WireWorld(faults: [.pubackDelay(milliseconds: 500)])
        let client = try await world.client("c1")
        publish(client)
        try await client.expectNothing()

        world.time.advance(by: .milliseconds(500))

        try await client.expect(Self.puback)
    }

    @Test("half-open falls silent without closing, close closes")
    func halfOpenAndClose() async throws {
        let silent = try WireWorld(faults: [.halfOpen(after: 2)])
        let first = try await silent.client("c1")
        publish(first)
        publish(first)
        try await first.expect(Self.puback + Self.puback)
        publish(first)
        first.send([0xC0, 0x00])
        // Another client's whole conversation passes meanwhile.
        let other = try await silent.client("c2")
        try await other.expectNothing()
        #expect(silent.service.counters["ada"]?.points == 2)
        first.vanish()
        #expect(try await first.readToEnd().isEmpty)

        let closing = try WireWorld(faults: [.close(after: 2)])
        let second = try await closing.client("c1")
        for _ in 0..<3 { publish(second) }
        #expect(try await second.readToEnd() == Self.puback + Self.puback)
    }

    @Test("echo-twice delivers every message twice")
    func echoTwice() async throws {
        let world = try WireWorld(faults: [.echoTwice])
        let client = try await world.client("c1")
        client.send(WireWorld.subscribe("ada/f/x"))
        try await client.expect([0x90, 0x03, 0x00, 0x01, 0x00])
        client.send(WireWorld.publish("ada/f/x", "1"))

        try await client.expect(WireWorld.publish("ada/f/x", "1"))
        try await client.expect(WireWorld.publish("ada/f/x", "1"))
        try await client.expectNothing()
    }

    @Test("keep-alive-cut closes to the second, however often the client pings")
    func keepAliveCut() async throws {
        let world = try WireWorld(faults: [.keepAliveCut(seconds: 300)])
        let client = try await world.client("c1")
        world.time.advance(by: .seconds(299))
        try await client.expectNothing()

        world.time.advance(by: .seconds(1))

        #expect(try await client.readToEnd().isEmpty)
    }

    @Test("ban and throttle hold now, are said to who listens, and end by clearing")
    func banAndThrottle() async throws {
        let world = try WireWorld()
        let client = try await world.client("c1")
        client.send(WireWorld.subscribe("ada/errors") + WireWorld.subscribe("ada/throttle"))
        try await client.expect([0x90, 0x03, 0x00, 0x01, 0x00, 0x90, 0x03, 0x00, 0x01, 0x00])

        await world.service.inject(.throttle(seconds: 20))
        let throttled = #""ada data rate limit reached, 20 seconds until throttle released""#
        try await client.expect(WireWorld.publish("ada/throttle", throttled))
        client.send(WireWorld.publish("ada/f/x", "1"))
        try await client.expect(WireWorld.publish("ada/throttle", throttled))

        await world.service.inject(.ban(seconds: 60))
        let banned = #""enforcement limit reached, your account is banned for 60 seconds""#
        try await client.expect(WireWorld.publish("ada/errors", banned))
        client.send(WireWorld.publish("ada/f/x", "1"))
        let blocked = #""c1 127.0.0.1 PUBLISH ada/f/x rejected, user is temporarily blocked""#
        try await client.expect(WireWorld.publish("ada/errors", blocked))
        let late = try world.connect()
        late.send(WireWorld.login("c2"))
        #expect(try await late.readToEnd() == [0x20, 0x02, 0x00, 0x07])

        await world.service.clearFaults()
        client.send(WireWorld.publish("ada/f/x", "1"))
        try await client.expectNothing()
        #expect(world.service.counters["ada"]?.points == 1)
    }

    @Test("messages can be bare")
    func bare() async throws {
        let world = try WireWorld(faults: [.quotedMessages(false)])
        let client = try await world.client("c1")
        client.send(WireWorld.subscribe("ada/errors"))
        try await client.expect([0x90, 0x03, 0x00, 0x01, 0x00])
        client.send(WireWorld.publish("ada/tele", "1"))

        try await client.expect(
            WireWorld.publish("ada/errors", "c1 127.0.0.1 PUBLISH ada/tele rejected, not a valid resource topic")
        )
    }
}
