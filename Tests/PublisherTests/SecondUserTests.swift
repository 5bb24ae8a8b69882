import Diagnostics
import Outbox
import Publisher
import Simulator
import TestKit
import Testing

@Suite("Two bridges with one client id", .timeLimit(.minutes(5)))
struct SecondUserTests {
    @Test("who is thrown out again and again says that its id is in use, slows down, and delivers by REST")
    func idInUse() async throws {
        let world = try await SimulatedDelivery(factor: 10)
        let driver = world.delivery.driver
        // A foreign client with the same id, which comes back a second after it was thrown out.
        let address = [
            "-h", "127.0.0.1", "-p", "\(world.simulator.mqttPort)", "-u", "ada", "-P", "key", "-i", "bridge",
        ]
        let rival = try ChildProcess("mosquitto_sub", address + ["-t", "ada/f/elsewhere"])
        defer { rival.signal(9) }
        world.delivery.append(20)
        world.delivery.start()

        try await until("it says so") { await driver.status.reason == .idInUse }
        let status = await driver.status
        let pause = status.nextTry.map { world.delivery.time.boot().duration(to: $0) }
        world.delivery.append(20)
        try await world.close("beside a rival")

        #expect(pause.map { $0 > .seconds(30) } ?? false, "slowed down: \(pause ?? .zero)")
        #expect(world.delivery.talk.withLock { $0.contains { $0.contains("MQTT is down (id-in-use)") } })
        #expect(world.counters?.bans == 0 && world.counters?.refusedLogins == 0)
        await world.end()
    }

    @Test("two bridges that throw each other out stay within the log-ins, and both deliver all")
    func twoBridges() async throws {
        let world = try await SimulatedDelivery(factor: 60, feeds: Array(Delivery.feeds.prefix(2))) {
            $0.fallBackSoon()
        }
        let other = try await Delivery(
            mqttPort: world.mqtt.port,
            httpPort: world.rest.port,
            feeds: Array(Delivery.feeds.suffix(3)),
            time: world.delivery.time
        ) { settings in
            settings.settle = world.delivery.settings.settle
            settings.fallbackAfter = world.delivery.settings.fallbackAfter
        }
        for feed in Delivery.feeds.suffix(3) { try await world.makeFeed(feed) }
        other.start()
        world.delivery.start()
        let start = world.delivery.time.boot()

        for _ in 0..<10 {
            world.delivery.append(10)
            other.append(10)
            for outbox in [world.delivery.outbox, other.outbox] {
                try await until("they have arrived") { outbox.statistics.total.pending == 0 }
            }
        }
        // Until they have met often enough.
        try await until("they have thrown each other out") { [simulator = world.simulator] in
            simulator.service.counters["ada"]?.logins ?? 0 >= 8
        }

        let counters = try #require(world.counters)
        let minutes = start.duration(to: world.delivery.time.boot()).inSeconds / 60
        #expect(Double(counters.logins) <= 2 * 6 * (minutes + 1))
        #expect(counters.bans == 0 && counters.refusedLogins == 0)
        try await world.close("the first")
        #expect(other.counts.confirmed == 100 && other.counts.isBalanced)
        await other.end()
        await world.end()
    }
}
