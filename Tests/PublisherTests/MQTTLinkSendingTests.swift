import AdafruitIO
import DataPoints
import Diagnostics
import MQTT
import Simulator
import TestKit
import Testing

@testable import Publisher

@Suite("Publishing over MQTT", .timeLimit(.minutes(1)))
struct MQTTLinkSendingTests {
    private let status = FeedKey("status")

    @Test("nothing is published before it is allowed, then in order, each confirmed by its acknowledgement")
    func order() async throws {
        let peer = ScriptedPeer([.welcome + .taken + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port)
        try world.append(2)
        try await world.until(.up)
        await world.time.untilSleeping()
        world.time.advance(by: .milliseconds(100))
        await world.time.untilSleeping()
        #expect(peer.packets().count == 4)

        world.link.allowPublishing()
        world.time.advance(by: .milliseconds(100))

        try await until("both are confirmed") { world.queue.counts.confirmed == 2 }
        #expect(peer.packets()[4...].map(Wire.text) == ["ada/f/load 0", "ada/f/load 1"])
        #expect(world.link.budget.used == 2)
    }

    @Test("a throttle message holds publishing and status alike, until it has ended and two seconds more")
    func throttle() async throws {
        let notice = Wire.publish("ada/throttle", "\"ada data rate limit reached, 20 seconds until throttle released\"")
        let peer = ScriptedPeer([.welcome + [.send(notice)] + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port)
        world.link.allowPublishing()
        try await world.until(.throttled)
        #expect(world.link.linkState.isUp)
        #expect(world.link.linkState.message.contains("data rate limit"))

        try world.append(1)
        #expect(await !world.link.publishNow("stopped", to: try #require(status)))
        #expect(await !world.link.askForControlValue())
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(21))
        await world.time.untilSleeping()
        #expect(peer.packets().count == 4)
        world.time.advance(by: .seconds(1))

        try await until("the point is confirmed") { world.queue.counts.confirmed == 1 }
        #expect(world.link.linkState.reason == .ok)
    }

    @Test("a ban that the errors topic announces lasts as long as it said, and nobody logs in meanwhile")
    func ban() async throws {
        let notice = Wire.publish("ada/errors", "enforcement limit reached, your account is banned for 90 seconds")
        let peer = ScriptedPeer([.welcome + [.send(notice), .close], [.hang]])
        let world = try LinkWorld(port: peer.port)

        try await world.until(.down(.banned))

        #expect(world.pause == .seconds(92))
        world.link.apply(LinkWorld.settings(port: peer.port, feed: "another"))
        try await until("the link waits anew") { world.link.linkState.message.contains("changed settings") }
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(91))
        await world.time.untilSleeping()
        #expect(peer.connections == 1)
        world.time.advance(by: .seconds(1))
        await peer.untilConnections(2)
    }

    @Test("a ban that has ended is no reason for a later end")
    func oldBan() async throws {
        let notice = Wire.publish("ada/errors", "enforcement limit reached, your account is banned for 30 seconds")
        let peer = ScriptedPeer([.welcome + [.send(notice)] + .taken + [.close], [.hang]])
        let world = try LinkWorld(port: peer.port)
        world.link.allowPublishing()
        try await world.until(.banned)
        try world.append(1)
        await world.time.untilSleeping()

        world.time.advance(by: .seconds(100))

        try await world.until(.down(.closed))
        // It had lived for a minute.
        await peer.untilConnections(2)
    }

    @Test("a message that is never acknowledged ends the connection, and the point goes over the next one")
    func unacknowledged() async throws {
        let peer = ScriptedPeer([.welcome + [.awaitPacket, .drain], .welcome + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port)
        world.link.allowPublishing()
        try world.append(1)
        await peer.untilPackets(5)
        await world.time.untilSleeping()

        world.time.advance(by: .seconds(20))

        try await world.until(.down(.keepAlive))
        #expect(world.queue.counts.pending == 1)
        await world.time.untilSleeping()
        world.time.advance(by: .seconds(60))
        try await until("the point is confirmed") { world.queue.counts.confirmed == 1 }
        #expect(peer.packets(1).last.map(Wire.text) == "ada/f/load 0")
    }

    @Test("a point that has waited too long is evicted, not sent as if it were of now")
    func old() async throws {
        let peer = ScriptedPeer([.welcome + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port) { $0.liveWithin = .seconds(5) }
        try world.append(1)
        try await world.until(.up)
        await world.time.untilSleeping()
        world.time.advance(by: .milliseconds(5001))
        try await until("it is evicted") { world.queue.counts.evicted == 1 }

        world.link.allowPublishing()
        try world.append(1, feed: "fresh")

        try await until("the fresh one is confirmed") { world.queue.counts.confirmed == 1 }
        #expect(peer.packets().last.map(Wire.text) == "ada/f/fresh 0")
    }

    @Test("points for feeds that the service will not make are refused, and so is a value that is too large")
    func refused() async throws {
        let peer = ScriptedPeer([.welcome + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port)
        world.link.allowPublishing()
        let load = try #require(FeedKey("load"))
        world.link.block([load])
        try world.append(2)
        let large = String(repeating: "x", count: PointLimits.valueBytes + 1)
        world.queue.append([DataPoint(feed: try #require(status), value: large, createdAt: world.time.wall())])
        try world.append(1, feed: "other")

        try await until("all are through") { world.queue.counts.pending == 0 }

        #expect(world.queue.counts.refused == 3)
        #expect(world.queue.counts.confirmed == 1)
        #expect(await !world.link.publishNow("1", to: load))
        #expect(world.link.budget.used == 1)
    }

    @Test("the budget is never exceeded, with switch and status in it, and the service never has to reject")
    func budget() async throws {
        let time = ManualTime()
        var configuration = SimulatorConfiguration(
            accounts: [SimulatedAccount(name: "ada", key: Secret("key"), plan: .custom(pointsPerMinute: 32))]
        )
        configuration.mqttPort = 0
        configuration.httpPort = 0
        configuration.time = time
        let simulator = try AdafruitIOSimulator(configuration)
        // Making the two feeds costs two points.
        let world = try LinkWorld(port: simulator.mqttPort)
        world.link.allowPublishing()
        try await world.until(.up)
        try world.append(100)
        let status = try #require(status)

        try await until("the rules have had their part") { world.queue.counts.confirmed == 27 }
        await world.time.untilSleeping()
        #expect(world.link.budget.used == 27)
        // Three are left for the switch and its status.
        for _ in 0..<3 { #expect(await world.link.publishNow("recording 1", to: status)) }
        #expect(await !world.link.publishNow("stopped", to: status))
        #expect(await !world.link.askForControlValue())
        #expect(world.link.budget.used == 30)

        for confirmed in [54, 81] {
            time.advance(by: .seconds(62))
            world.time.advance(by: .seconds(62))
            try await until("the next minute's are through") { world.queue.counts.confirmed == confirmed }
            await world.time.untilSleeping()
        }
        let counters = simulator.service.counters["ada"]
        #expect(counters?.rejected == 0)
        #expect(counters?.points == 84)
        #expect(counters?.bans == 0)
        await world.stop()
        await simulator.stop()
    }

    @Test("what the account has used already counts, and a plan that is learnt later is kept to")
    func used() async throws {
        let peer = ScriptedPeer([.welcome + .taken + [.drain]])
        let world = try LinkWorld(port: peer.port)
        world.link.setPointsPerMinute(12)
        world.link.noteUsed(10)
        world.link.noteUsed(4)
        world.link.allowPublishing()
        try world.append(2)

        try await until("one is confirmed") { world.queue.counts.confirmed == 1 }
        await world.time.untilSleeping()

        // One of twelve is left for the switch.
        #expect(world.link.budget == (12, 11))
        #expect(world.queue.counts.pending == 1)
    }

    @Test("values of the control feed become events, and asking publishes to its /get")
    func control() async throws {
        let peer = ScriptedPeer([
            .welcome + .taken + [.send(Wire.publish("ada/f/recording", "ON")), .drain]
        ])
        let world = try LinkWorld(port: peer.port)
        #expect(await !world.link.askForControlValue())
        try await world.until(.up)

        #expect(await world.link.askForControlValue())

        try await world.until(.control("ON"))
        #expect(peer.packets().last.map(Wire.text) == "ada/f/recording/get ")
        #expect(world.link.budget.used == 1)
    }
}
