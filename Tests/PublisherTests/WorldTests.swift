import DataPoints
import Diagnostics
import Publisher
import Testing

@Suite("Publisher in a simulated world", .timeLimit(.minutes(5)))
struct WorldTests {
    static func rules(_ intervals: [Double], texts: Int) throws -> [World.Rule] {
        try intervals.enumerated().map { index, interval in
            World.Rule(feed: try #require(FeedKey("feed-\(index)")), interval: interval, texts: texts)
        }
    }

    @Test("in fair weather every point goes by MQTT, is confirmed, and stands there once")
    func fairWeather() throws {
        var world = World(seed: 1, rules: try Self.rules([8, 12, 15, 20], texts: 1_000_000))
        world.run(for: 3600)
        world.isSampling = false
        world.run(for: 60)

        #expect(world.faults == [])
        #expect(world.outbox.pending == 0)
        #expect(world.outbox.accepted > 1000)
        print(world.steps, world.countByLink, world.reports.count, world.doubtCount)
    }

    /// What must hold once the weather was fair again for a while.
    static func expectAllArrived(_ world: World, exactlyOnce: Bool, source: SourceLocation = #_sourceLocation) {
        #expect(world.faults == [], sourceLocation: source)
        #expect(world.outbox.isBalanced, sourceLocation: source)
        #expect(world.outbox.pending == 0, "still waiting", sourceLocation: source)
        var copies: [Int: Int] = [:]
        for entry in world.service.entries.values.joined() {
            guard let origin = entry.origin else { continue }
            copies[origin, default: 0] += 1
        }
        let lost = world.outbox.confirmed.filter { copies[$0] == nil }.sorted()
        #expect(lost == [], "confirmed and not stored", sourceLocation: source)
        let doubled = copies.filter { $0.value > 1 }.keys.sorted()
        if exactlyOnce { #expect(doubled == [], sourceLocation: source) }
        for entries in world.service.entries.values {
            let mqtt = entries.filter { $0.isByMQTT && $0.origin != nil }.map { $0.origin ?? 0 }
            if exactlyOnce { #expect(mqtt == mqtt.sorted(), "MQTT keeps the order", sourceLocation: source) }
        }
    }

    /// Random weather, outages, bans and restarts for `hours`, then a fair hour or two.
    static func storm(
        seed: UInt64,
        hours: Int,
        texts: Int,
        late: Bool = false,
        foreign: Bool = false
    ) throws -> World {
        var settings = PublisherSettings()
        if foreign { settings.share = 0.6 }
        var world = World(seed: seed, settings: settings, rules: try rules([8, 12, 17, 30], texts: texts))
        if foreign {
            world.queue.plan(world.now + 3, .foreign(nil, every: 9))
            world.queue.plan(world.now + 5, .foreign(world.rules[0].feed, every: 60))
        }
        var dice = Dice(state: seed &* 77)
        let kinds = [0.0, 0.0, 0.01, 0.05, 0.2]
        func some() -> Double { kinds[Int.random(in: 0..<kinds.count, using: &dice)] }
        for _ in 0..<hours * 12 {
            world.weather = World.Weather(
                lostPublish: some() / 2,
                lostEcho: some(),
                doubleEcho: some(),
                lateStore: late ? some() / 2 : 0,
                lostRequest: some(),
                lostAnswer: some(),
                failedRequest: some(),
                brokenConnection: some() / 4,
                failedConnect: some(),
                poison: some() / 10,
                delay: dice.chance(0.2) ? 2 : 0.4
            )
            world.service.cutsTimes = dice.chance(0.3)
            world.mqttIsReachable = !dice.chance(0.15)
            if !world.mqttIsReachable { world.breakConnection() }
            world.restIsReachable = !dice.chance(0.15)
            world.service.isKeyRefused = dice.chance(0.03)
            switch Int.random(in: 0..<12, using: &dice) {
            case 0: world.restart()
            case 1: world.ban(for: dice.seconds(30...300))
            case 2: world.restart(reboot: true)
            case 3: world.hand(.keyChanged)
            case 4: world.evict()
            default: break
            }
            world.run(for: dice.seconds(60...540))
        }
        world.weather = World.Weather()
        world.mqttIsReachable = true
        world.restIsReachable = true
        world.service.isKeyRefused = false
        world.isSampling = false
        world.queue.plan(world.now, .toMachine(life: world.life, connection: nil, .keyChanged))
        for _ in 0..<200 where world.outbox.pending > 0 { world.run(for: 300) }
        world.run(for: 120)
        return world
    }

    @Test("whatever breaks, all arrives, and once where that can be known", arguments: 1...6)
    func storms(seed: Int) throws {
        let world = try Self.storm(seed: UInt64(seed), hours: 4, texts: 1_000_000)

        Self.expectAllArrived(world, exactlyOnce: true)
        print(seed, world.steps, world.outbox.accepted, world.countByLink, world.doubtCount)
    }

    @Test("values that repeat are told apart", arguments: 11...14)
    func repeatingValues(seed: Int) throws {
        let world = try Self.storm(seed: UInt64(seed), hours: 4, texts: seed % 3 + 1)

        Self.expectAllArrived(world, exactlyOnce: true)
        print(seed, world.steps, world.outbox.accepted, world.countByLink, world.doubtCount)
    }

    @Test("what the service stores late may stand twice for a while, and is never lost", arguments: 21...23)
    func lateStores(seed: Int) throws {
        let world = try Self.storm(seed: UInt64(seed), hours: 4, texts: seed % 2 == 0 ? 3 : 1_000_000, late: true)

        Self.expectAllArrived(world, exactlyOnce: false)
        print(seed, world.steps, world.outbox.accepted, world.countByLink, world.doubtCount)
    }

    @Test("other devices on the account and on our feeds cost budget and lose nothing", arguments: 31...33)
    func otherDevices(seed: Int) throws {
        let world = try Self.storm(seed: UInt64(seed), hours: 4, texts: 1_000_000, foreign: true)

        Self.expectAllArrived(world, exactlyOnce: false)
        print(seed, world.steps, world.outbox.accepted, world.countByLink, world.doubtCount)
    }
}
