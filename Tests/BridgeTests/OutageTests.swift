import AdafruitIO
import AdafruitIOClient
import DataPoints
import Diagnostics
import FastJSON
import Glibc
import Outbox
import Publisher
import Simulator
import TestKit
import Testing

@testable import Bridge

/// A bridge and a simulator in this process, whose time goes ten times as fast, and a gate in front of the MQTT port.
private final class OutageWorld: Sendable {
    let time = FastTime(factor: 10)
    let io: SimulatedIO
    let gate: PortGate
    let service: BridgeService
    let client: AdafruitIOClient
    let talk = Talk()
    private let running: Task<Void, any Error>

    private static let rules = """
        [[sampler]]
        kind = "host"
        every = "1 s"
        always = true
        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        every = "4 s"
        always = true
        """

    init() async throws {
        io = try SimulatedIO(.custom(pointsPerMinute: 120), time: time)
        gate = PortGate(to: io.simulator.mqttPort)
        try OutageWorld.write("key", io)
        let configuration = try OutageWorld.configure(Self.rules, io, gate)
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: configuration.file)
        service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: [:],
            time: time,
            log: talk.log
        )
        client = try AdafruitIOClient(try io.configuration(), key: Secret("key"))
        let samplers = try SamplerFactory.make(configuration, time: time)
        running = Task { [service] in try await service.run(samplers) }
    }

    private static func write(_ key: String, _ io: SimulatedIO) throws {
        try io.folder.write(key, to: "key")
        chmod(io.folder.file("key"), 0o600)
    }

    private static func configure(_ rules: String, _ io: SimulatedIO, _ gate: PortGate) throws -> Configuration {
        let account = "plan = 120\nkey_file = \"\(io.folder.file("key"))\""
        let text = io.text(rules, account: account)
            .replacing("mqtt://127.0.0.1:\(io.simulator.mqttPort)", with: "mqtt://127.0.0.1:\(gate.port)")
        let path = try io.folder.write(text, to: "feedbridge.toml")
        chmod(path, 0o600)
        return try ConfigurationFile.load(path)
    }

    func setKey(_ key: String) async throws {
        try OutageWorld.write(key, io)
        await service.reload()
    }

    func stopSampling() async throws {
        _ = try OutageWorld.configure("", io, gate)
        await service.reload()
    }

    func counters() throws -> AccountCounters { try #require(io.simulator.service.counters["ada"]) }

    func status() async -> (link: String?, reason: LinkReason, nextTry: BootInstant?, recording: Bool) {
        let status = await service.status()
        return (status.delivery.link?.rawValue, status.reason, status.delivery.nextTry, status.session != nil)
    }

    func until(_ link: String?, _ reason: LinkReason) async throws {
        try await waiting("the link is \(link ?? "none"), \(reason)") {
            let status = await self.status()
            return status.link == link && status.reason == reason
        }
    }

    /// As `until`; when it waits in vain, it shows what the bridge has said.
    func waiting(_ what: String, _ condition: @Sendable () async throws -> Bool) async throws {
        do {
            try await TestKit.until(what, condition)
        } catch {
            Issue.record("\(what): \(await status()), \(talk.text)")
            throw error
        }
    }

    func toggle(_ word: String) async throws {
        _ = try await client.createPoint(word, in: feed("recording"))
        try await waiting("the toggle says \(word)") { await self.status().recording == (word == "ON") }
    }

    /// The points on the service, in their order; none while the feed is not there.
    func points() async throws -> [(value: String, createdAt: Timestamp?)] {
        var all: [(String, Timestamp?)] = []
        let isThere = try await client.feeds().value.contains { $0.key == "uptime" }
        guard isThere else { return [] }
        for try await page in client.pages(of: feed("uptime")) { all += page.points.map { ($0.value, $0.createdAt) } }
        return all.reversed()
    }

    /// Waits until so many more points have reached the service.
    func untilMorePoints(_ count: Int) async throws {
        let before = try await points().count
        try await waiting("\(count) more points are there") { try await self.points().count >= before + count }
    }

    func end() async throws {
        running.cancel()
        try await running.value
        await io.simulator.stop()
    }
}

@Suite("Outages", .timeLimit(.minutes(5)))
struct OutageTests {
    @Test("MQTT gone and back, a ban, a wrong key: no point is lost, and the status tells the reason at each step")
    func story() async throws {
        let world = try await OutageWorld()
        try await world.until("mqtt", .ok)
        try await world.untilMorePoints(3)

        // The MQTT port is closed: REST carries points and toggle.
        world.gate.shut()
        let closed = world.time.boot()
        try await world.until("rest", .refused)
        #expect(closed.duration(to: world.time.boot()) >= .seconds(25))
        try await world.toggle("ON")
        try await world.toggle("OFF")
        try await world.untilMorePoints(5)
        try await world.time.sleep(until: closed.advanced(by: .seconds(120)))
        #expect(await world.status().link == "rest")

        // It is open again: MQTT takes over.
        world.gate.open()
        try await world.until("mqtt", .ok)
        try await world.untilMorePoints(3)

        // A ban: neither link sends anything before it is over.
        await world.io.simulator.service.inject(.ban(seconds: 120))
        try await world.until(nil, .banned)
        let first = try world.counters()
        var last = first
        var looks = 0
        while true {
            let now = try world.counters()
            let status = await world.service.status().delivery
            // Read before the status said that the hold-off goes on.
            guard let until = status.heldUntil, until > world.time.boot() else { break }
            #expect(status.reason == .banned && status.nextTry != nil)
            last = now
            looks += 1
            try await world.time.sleep(for: .seconds(1))
        }
        #expect(looks > 0 && first.publishes == last.publishes && first.logins == last.logins)
        #expect(first.subscribes == last.subscribes && first.restRequests == last.restRequests)
        try await world.until("mqtt", .ok)
        try await world.untilMorePoints(3)

        // A wrong key stops both links, until it is mended.
        try await world.setKey("wrong")
        try await world.until(nil, .keyRefused)
        let refused = try world.counters()
        try await world.time.sleep(for: .seconds(60))
        #expect(try world.counters().logins == refused.logins && refused.refusedLogins <= 2)
        #expect(await world.status().reason == .keyRefused)
        try await world.setKey("key")
        try await world.until("mqtt", .ok)

        // In the end every point is there, once, with its own time.
        try await world.stopSampling()
        try await world.waiting("everything has left") { await world.service.status().points.pending == 0 }
        let books = await world.service.status().points
        let points = try await world.points()
        let values = points.compactMap { Double($0.value) }
        #expect(books.accepted == books.confirmed && books.refused == 0 && books.evicted == 0)
        #expect(values.count == points.count && Set(values).count == books.accepted)
        #expect(values.count - Set(values).count <= books.doubt)
        #expect(values == values.sorted())
        let counters = try world.counters()
        #expect(counters.bans == 1 && counters.failedSubscribes == 0)
        try await world.end()
    }
}
