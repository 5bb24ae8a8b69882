import AdafruitIOClient
import DataPoints
import Diagnostics
import MQTT
import Outbox
import Publisher
import Simulator
import TestKit
import Testing

@Suite("The publisher's driver", .timeLimit(.minutes(5)))
struct PublisherDriverTests {
    private static let load = feed("load")
    private static let subscription: [ScriptedPeer.Step] = [.awaitPacket, .reply { Wire.suback($0[$0.count - 1]) }]
    /// CONNECT, and SUBSCRIBE of the control feed, errors, throttle and one feed.
    private static let packetsBefore = 5

    // MARK: What goes over the wire

    @Test("logs in and subscribes in the design's order, and the disk knows of a point before the wire")
    func wire() async throws {
        let peer = ScriptedPeer([.welcome + Self.subscription + [.awaitPacket, .drain]])
        let delivery = try await Delivery(mqttPort: peer.port, httpPort: LocalPorts.free(), feeds: [Self.load])
        try await delivery.begin()
        delivery.append("21.5", to: Self.load)

        await peer.untilPackets(Self.packetsBefore + 1)

        let packets = peer.packets()
        #expect(packets[0].prefix(2) == [0x10, UInt8(packets[0].count - 2)])
        #expect(packets[0][2..<9] == [0, 4, 0x4d, 0x51, 0x54, 0x54, 4])
        // User name, password, clean session.
        #expect(packets[0][9] == 0b1100_0010)
        let filters = packets[1..<5].map { String(decoding: $0[6..<($0.count - 1)], as: UTF8.self) }
        #expect(filters == ["ada/f/recording", "ada/errors", "ada/throttle", "ada/f/load"])
        #expect(packets[1..<5].allSatisfy { $0[0] == 0x82 && $0[$0.count - 1] == 1 })
        #expect(packets[5][0] == 0x32 && Wire.text(packets[5]) == "ada/f/load 21.5")
        let rows = try await OutboxReader(folder: delivery.folder.path).points()
        #expect(rows.map(\.state) == [.sending] && rows.map(\.attempts) == [1])
        #expect(delivery.memory.withLock { $0 } != nil)
        await delivery.end()
    }

    @Test("a PUBACK is no proof, an echo is")
    func echoConfirms() async throws {
        let echo: ScriptedPeer.Step = .send(Wire.publish("ada/f/load", "21.5"))
        // An echo only, after one with a text that is not the point's; and a PUBACK only.
        let other: ScriptedPeer.Step = .send(Wire.publish("ada/f/load", "21.50"))
        let proved = ScriptedPeer([.welcome + Self.subscription + [.awaitPacket, other, echo, .drain]])
        let acknowledged = ScriptedPeer([.welcome + Self.subscription + .taken + [.drain]])
        let first = try await Delivery(mqttPort: proved.port, httpPort: LocalPorts.free(), feeds: [Self.load])
        let world = try await SimulatedDelivery(mqttPort: acknowledged.port, feeds: [Self.load]) { $0.waitForMQTT() }
        let created = Timestamp(nanoseconds: world.delivery.time.wall().nanoseconds / 1_000_000_000 * 1_000_000_000)
        for delivery in [first, world.delivery] {
            try await delivery.begin()
            delivery.outbox.append([DataPoint(feed: Self.load, value: "21.5", createdAt: created)])
        }

        try await first.untilDelivered()
        #expect(first.counts.confirmed == 1)

        // Without an echo REST looks it up, does not find it, and sends it with its own time.
        try await world.close("no echo")
        let client = try #require(world.delivery.access.client)
        let stored = try await client.points(in: Self.load).value.points
        #expect(acknowledged.packets().count == Self.packetsBefore + 1)
        #expect(stored.map(\.value) == ["21.5"])
        #expect(stored.map(\.createdAt) == [created])
        #expect(await world.delivery.driver.status.doubt == 0)
        await first.end()
        await world.end()
    }

    @Test("a value that is too large goes to the dead letters with the reason, and the rest goes on")
    func refuses() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load])
        world.delivery.append(String(repeating: "x", count: 2000), to: Self.load)
        world.delivery.append("1", to: Self.load)
        world.delivery.start()

        try await world.delivery.untilDelivered()

        #expect(world.delivery.counts.refused == 1 && world.delivery.counts.confirmed == 1)
        let letters = try await OutboxReader(folder: world.delivery.folder.path).deadLetters()
        #expect(letters.map(\.reason) == ["the value has 2000 bytes and the service takes 1024"])
        #expect(try await world.stored()[Self.load] == ["1"])
        await world.end()
    }

    @Test("writes the bridge's own values over the link that works, and none when no link does")
    func ownWrites() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load])
        let driver = world.delivery.driver
        world.delivery.start()
        try await world.delivery.untilUp()

        #expect(await driver.write("by MQTT", to: Self.load) == .published)
        try await until("it stands there") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.points == 1
        }
        let date = try await driver.read { client throws(AdafruitIOClientError) in try await client.throttle() }?.date
        #expect(date != nil)

        world.mqtt.set(.blackHole)
        world.mqtt.reset()
        try await until("REST takes over") { await driver.status.link == .rest }
        guard case .stored = await driver.write("by REST", to: Self.load) else {
            Issue.record("not stored")
            return
        }
        #expect(try await world.stored()[Self.load] == ["by MQTT", "by REST"])

        await world.delivery.stop()
        #expect(await driver.write("late", to: Self.load) == .failed)
        #expect(await driver.askForControlValue() == false)
        let late = try await driver.read { client throws(AdafruitIOClientError) in try await client.throttle() }
        #expect(late == nil)
        await world.end()
    }

    @Test("nothing is sent to a feed that may not exist before it is ready")
    func unknownFeed() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load, feed("door")])
        world.delivery.driver.feedIsUnknown(Self.load)
        world.delivery.append("1", to: Self.load)
        world.delivery.append("2", to: feed("door"))
        world.delivery.start()
        try await until("the other feed's point has arrived") { [outbox = world.delivery.outbox] in
            outbox.statistics.total.confirmed == 1
        }
        #expect(try await world.stored() == [Self.load: [], feed("door"): ["2"]])

        world.delivery.driver.feedIsReady(Self.load)
        try await world.close("ready")
        await world.end()
    }

    @Test("a changed key connects anew")
    func keyChanged() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load])
        world.delivery.start()
        try await world.delivery.untilUp()

        await world.delivery.driver.apply(world.delivery.settings, access: world.delivery.access, reconnect: true)
        try await until("it has logged in twice") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.logins == 2
        }
        world.delivery.append(3)

        try await world.close("connected anew")
        await world.end()
    }

    // MARK: Starting

    @Test("points that came before the start are counted once, and so are those that come with it")
    func countsOnce() async throws {
        let world = try await SimulatedDelivery()
        for feed in Delivery.feeds { world.delivery.driver.feedIsUnknown(feed) }
        world.delivery.append(300)
        world.delivery.start()
        world.delivery.append(300)
        try await world.delivery.outbox.flush()

        // Those that are not live wait in the outbox; at most 32 of each feed are in hand as live.
        try await until("all are counted") { [driver = world.delivery.driver] in
            let backlog = await driver.status.backlog
            return backlog >= 600 - 5 * 32 && backlog <= 600
        }
        #expect(await world.delivery.driver.status.backlog <= 600)
        for feed in Delivery.feeds { world.delivery.driver.feedIsReady(feed) }
        try await world.close("all")
        await world.end()
    }

    @Test("a hold-off survives a restart: no log-in before it has ended")
    func holdOffSurvives() async throws {
        let world = try await SimulatedDelivery()
        world.delivery.start()
        try await world.delivery.untilUp()
        try await world.inject("ban:seconds=60")
        try await until("the driver knows") { [driver = world.delivery.driver] in
            await driver.status.reason == .banned
        }

        try await world.delivery.restart()
        world.delivery.append(10)
        try await world.delivery.untilUp()

        #expect(world.counters?.refusedLogins == 0 && world.counters?.logins == 2)
        #expect(world.counters?.rejected == 0)
        try await world.close("after the ban")
        await world.end()
    }

    @Test("what was under way is looked up after a restart, though its feed gets no new point")
    func lookedUpAfterRestart() async throws {
        let world = try await SimulatedDelivery { $0.waitForMQTT() }
        // The service takes the first PUBLISH, and nobody hears of it.
        world.mqtt.strike(.blackHole, afterPackets: 1, ofKind: 3, .toServer)
        try await world.delivery.begin()
        world.delivery.append(5)
        try await until("the point is stored") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.points == 1
        }

        try await world.delivery.restart()

        #expect(try await world.close("after the restart") == 0)
        #expect(world.counters?.points == 5)
        await world.end()
    }

    // MARK: Stopping

    @Test("a stop does not wait for a slow REST answer, and the point is found after the next start")
    func slowAnswerAtStop() async throws {
        let service = ManualTime(wall: SystemTime().wall() + .seconds(86_400))
        let world = try await SimulatedDelivery(serviceTime: service, mqttPort: LocalPorts.free())
        world.delivery.append(1)
        world.delivery.start()
        try await world.delivery.untilDelivered()
        try await until("/throttle has been read") { [driver = world.delivery.driver] in
            await driver.status.link == .rest
        }
        try await world.inject("rest-slow:ms=1000")
        let before = world.counters?.restRequests ?? 0
        world.delivery.append(1)
        // Its answer is held back for as long as the service's clock stands.
        try await until("the request is there") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.restRequests ?? 0 > before
        }
        await service.untilSleeping()

        await world.delivery.stop()
        #expect(world.counters?.points == 1 && world.delivery.counts.pending == 1)

        await world.simulator.service.clearFaults()
        service.advance(by: .seconds(1))
        try await until("the service has stored it") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.points == 2
        }
        try await world.delivery.restart()
        #expect(try await world.close("after the stop") == 0)
        #expect(world.counters?.points == 2)
        await world.end()
    }

    @Test("a stop ends an attempt to connect")
    func stopWhileConnecting() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .drain]])
        let delivery = try await Delivery(mqttPort: peer.port, httpPort: LocalPorts.free())
        delivery.start()
        await peer.untilPackets(1)

        await delivery.stop()

        await peer.finished(0)
        #expect(peer.packets().count == 1)
        await delivery.end()
    }

    @Test("a stop says goodbye on a connection, with a DISCONNECT")
    func goodbye() async throws {
        let peer = ScriptedPeer([.welcome + [.awaitPacket, .drain]])
        let delivery = try await Delivery(mqttPort: peer.port, httpPort: LocalPorts.free(), feeds: [])
        delivery.start()
        try await delivery.untilUp()

        await delivery.stop()

        await peer.finished(0)
        #expect(peer.packets().last == [0xe0, 0])
        await delivery.end()
    }

    @Test("who asks while it is cancelled gets an answer")
    func askWhileCancelled() async throws {
        let delivery = try await Delivery(mqttPort: LocalPorts.free(), httpPort: LocalPorts.free())
        let run = Task { [driver = delivery.driver] in await driver.run() }
        run.cancel()
        await run.value

        #expect(await delivery.driver.write("1", to: Self.load) == .failed)
        await delivery.end()
    }

    // MARK: What the outbox lets go of

    @Test("points that the outbox let go of by itself are not waited for")
    func evictedWhileWaiting() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load, feed("door")])
        let driver = world.delivery.driver
        driver.feedIsUnknown(Self.load)
        for number in 0..<100 { world.delivery.append("\(number)", to: Self.load) }
        world.delivery.start()
        try await until("they wait") { await driver.status.backlog >= 68 }

        #expect(try await world.delivery.outbox.drop(feed: Self.load) == 100)

        try await until("nothing waits") { await driver.status.backlog == 0 }
        driver.feedIsReady(Self.load)
        world.delivery.append("new", to: Self.load)
        try await world.delivery.untilDelivered()
        #expect(try await world.stored()[Self.load] == ["new"])
        #expect(world.delivery.counts.evicted == 100 && world.delivery.counts.confirmed == 1)
        await world.end()
    }

    @Test("a point that left the outbox is not sent, though nobody has said so", arguments: [false, true])
    func evictedBehindTheBack(byREST: Bool) async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load]) { if !byREST { $0.waitForMQTT() } }
        let driver = world.delivery.driver
        driver.feedIsUnknown(Self.load)
        if byREST { world.mqtt.set(.blackHole) }
        try await world.delivery.begin()
        for number in 1...20 { world.delivery.append("\(number)", to: Self.load) }
        try await world.delivery.outbox.flush()
        try await until("a link works") { await driver.status.link != nil }
        // The machine has them in hand: it was told of them before it had a link.
        let ids = try await OutboxReader(folder: world.delivery.folder.path).points(of: Self.load).map(\.id)
        world.delivery.outbox.evict(ids.filter { $0 % 2 == 0 }, .full)
        driver.feedIsReady(Self.load)

        try await world.delivery.untilDelivered()

        #expect(try await world.stored()[Self.load] == (1...20).filter { $0 % 2 == 1 }.map { "\($0)" })
        let counts = world.delivery.counts
        #expect(counts.accepted == 20 && counts.confirmed == 10 && counts.evicted == 10)
        try await until("nothing waits") { await driver.status.backlog == 0 }
        // A message that was not sent costs nothing; of a request all points count, for it was made.
        try await until("what was not sent is given back") { await driver.status.used == (byREST ? 20 : 10) }
        await world.end()
    }

    @Test("when the outbox cannot be written nothing is sent, and the reason is told")
    func unwritable() async throws {
        let peer = ScriptedPeer([.welcome + Self.subscription + [.awaitPacket, .drain]])
        let delivery = try await Delivery(mqttPort: peer.port, httpPort: LocalPorts.free(), feeds: [Self.load])
        delivery.driver.feedIsUnknown(Self.load)
        try await delivery.begin()
        for number in 1...40 { delivery.append("\(number)", to: Self.load) }
        // 32 are in hand as live.
        try await until("they are in hand") { [driver = delivery.driver] in await driver.status.backlog == 8 }
        try await delivery.untilUp()
        try await delivery.outbox.close()

        delivery.driver.feedIsReady(Self.load)

        try await until("it says why") { [talk = delivery.talk] in
            talk.withLock { $0.contains { $0.contains("MQTT is down (disk-full)") } }
        }
        await peer.finished(0)
        #expect(peer.packets().last == [0xe0, 0], "goodbye, and no PUBLISH")
        await delivery.end()
    }

    @Test("dead letters that are retried are sent")
    func retried() async throws {
        let world = try await SimulatedDelivery(feeds: [Self.load])
        world.delivery.append("1", to: Self.load)
        try await world.delivery.outbox.flush()
        world.delivery.outbox.refuse([1], reason: "a test wants it")
        world.delivery.start()
        try await world.delivery.untilUp()
        #expect(world.delivery.counts.refused == 1)

        #expect(try await world.delivery.driver.retry(nil) == 1)

        try await world.close("retried")
        #expect(try await world.stored()[Self.load] == ["1"])
        await world.end()
    }
}
