import Diagnostics
import MQTT
import TestKit
import Testing

@testable import Publisher

@Suite("Logging in over MQTT", .timeLimit(.minutes(1)))
struct MQTTLinkLoginTests {
    @Test(
        "each refusal has its reason and its pause, and is tried again when that is over and not before",
        arguments: [
            (3, LinkReason.refused, 60), (4, .keyRefused, 900), (5, .keyRefused, 900), (6, .throttled, 60),
            (7, .banned, 60),
        ] as [(UInt8, LinkReason, Int64)]
    )
    func refusals(code: UInt8, reason: LinkReason, seconds: Int64) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Wire.connack(code)), .drain], [.hang]])
        let world = try LinkWorld(port: peer.port)

        try await world.until(.down(reason))

        #expect(world.link.linkState.reason == reason)
        #expect(world.pause == .seconds(seconds))
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(seconds) - .milliseconds(1))
        await world.time.untilSleeping()
        #expect(peer.connections == 1)
        world.time.advance(by: .milliseconds(1))
        await peer.untilConnections(2)
    }

    @Test("a refused client id or protocol stops until the configuration changes", arguments: [1, 2] as [UInt8])
    func final(code: UInt8) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Wire.connack(code)), .drain], [.hang]])
        let world = try LinkWorld(port: peer.port)
        try await world.until(.down(.refused))
        #expect(world.link.linkState.nextTry == nil)
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(365 * 86_400))
        await world.time.untilSleeping()
        #expect(peer.connections == 1)

        world.link.apply(LinkWorld.settings(port: peer.port, feed: "another"))

        await peer.untilConnections(2)
    }

    @Test("a new key is tried at once")
    func newKey() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Wire.connack(5)), .drain], .welcome + [.drain]])
        let world = try LinkWorld(port: peer.port)
        try await world.until(.down(.keyRefused))

        world.link.apply(LinkWorld.settings(port: peer.port, key: "another"))

        try await world.until(.up)
        #expect(peer.connections == 2)
    }

    @Test(
        "what the service holds off stays held off when the configuration changes",
        arguments: [3, 6, 7] as [UInt8]
    )
    func heldOff(code: UInt8) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Wire.connack(code)), .drain], [.hang]])
        let world = try LinkWorld(port: peer.port)
        try await world.until { $0 == .throttled || $0 == .banned || $0 == .refused }
        await world.time.untilSleeping()

        world.link.apply(LinkWorld.settings(port: peer.port, feed: "another"))

        try await until("the link waits anew") { world.link.linkState.message.contains("changed settings") }
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(59))
        await world.time.untilSleeping()
        #expect(peer.connections == 1)
        world.time.advance(by: .seconds(1))
        await peer.untilConnections(2)
    }

    @Test("changed settings move a connection to the new place, and what is the same stays connected")
    func changed() async throws {
        let old = ScriptedPeer([.welcome + [.drain]])
        let new = ScriptedPeer([.welcome + [.drain]])
        let world = try LinkWorld(port: old.port)
        try await world.until(.up)

        world.link.apply(LinkWorld.settings(port: old.port, limit: 60))
        #expect(world.link.budget.limit == 60)
        #expect(world.link.linkState.isUp)
        world.link.apply(LinkWorld.settings(port: new.port))

        await new.untilPackets(4)
        try await until("it is up again") { world.events == [.up, .down(.closed), .up] }
        await old.finished()
        #expect(old.received().suffix(2) == [0xe0, 0x00])
        #expect(old.connections == 1)
    }

    @Test("it subscribes to the control feed first, then to errors and throttle")
    func subscribes() async throws {
        let peer = ScriptedPeer([.welcome + [.drain]])
        let world = try LinkWorld(port: peer.port)

        try await world.until(.up)

        let filters = peer.packets().dropFirst().map { packet in
            String(decoding: packet[6..<packet.count - 1], as: UTF8.self)
        }
        #expect(filters == ["ada/f/recording", "ada/errors", "ada/throttle"])
        #expect(peer.packets().dropFirst().allSatisfy { $0[0] == 0x82 })
    }

    @Test("a subscription that is not granted ends the connection, and the next one waits")
    func notGranted() async throws {
        let peer = ScriptedPeer([
            [.awaitPacket, .send(Wire.connack(0)), .awaitPacket, .reply { Wire.suback($0[1], 0x80) }, .drain], [.hang],
        ])
        let world = try LinkWorld(port: peer.port)

        try await world.until(.down(.closed))

        #expect((world.pause ?? .zero) >= .seconds(10))
        #expect(!world.events.contains(.up))
    }

    @Test("ending it while the broker does not answer the log-in returns, and a connected one says goodbye")
    func ends() async throws {
        let silent = ScriptedPeer([[.hang]])
        let connecting = try LinkWorld(port: silent.port)
        await silent.untilConnections(1)
        await connecting.stop()

        let broker = try await Broker.start()
        let connected = try LinkWorld(port: broker.port)
        try await connected.until(.up)
        await connected.stop()
        try await until("the broker has seen it leave") { broker.log.contains("Client visitor disconnected.") }
    }

    @Test("a broker that vanishes and comes back is found again")
    func comesBack() async throws {
        let broker = try await Broker.start()
        let world = try LinkWorld(port: broker.port)
        try await world.until(.up)

        try await broker.stop()
        try await world.until(.down(.closed))
        try await broker.restart()
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(300))

        try await until("it is up again") { world.events.suffix(1) == [.up] && world.events.count == 3 }
    }

    @Test("nobody there and an unknown name are told apart")
    func nobody() async throws {
        let nobody = try LinkWorld(port: LocalPorts.free())
        try await nobody.until(.down(.refused))
        let unknown = try LinkWorld(port: 1883) { $0.connection.host = "no-such-host.invalid" }
        try await unknown.until(.down(.dns))
        #expect(unknown.link.linkState.message.contains("could not be resolved"))
    }
}

extension LinkWorld {
    fileprivate func until(_ isIt: @escaping @Sendable (LinkReason) -> Bool) async throws {
        try await TestKit.until("the link is down") {
            self.events.contains { if case .down(let reason) = $0 { isIt(reason) } else { false } }
        }
    }
}
