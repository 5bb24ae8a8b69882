import DataPoints
import Diagnostics
import FoundationEssentials
import Publisher
import Testing

@Suite("Publisher in a simulated world", .serialized, .timeLimit(.minutes(10)))
struct WorldTests {
    static func rules(_ intervals: [Double], texts: Int) throws -> [World.Rule] {
        try intervals.enumerated().map { index, interval in
            World.Rule(feed: try #require(FeedKey("feed-\(index)")), interval: interval, texts: texts)
        }
    }

    @Test("in fair weather every point goes by MQTT, is confirmed, and stands there once")
    func fairWeather() async throws {
        var world = World(seed: 1, rules: try Self.rules([8, 12, 15, 20], texts: 1_000_000))
        await Self.pass(3600, in: &world)
        world.isSampling = false
        await Self.pass(60, in: &world)

        #expect(world.faults == [])
        #expect(world.outbox.pending == 0)
        #expect(world.outbox.accepted > 1000)
    }

    /// Lets time pass, in slices, so that a long run keeps no thread from other tests.
    static func pass(_ seconds: Double, in world: inout World) async {
        var left = seconds
        while left > 0 {
            world.run(for: min(left, 30))
            left -= 30
            await Task.yield()
        }
    }

    /// What must hold once the weather was fair again for a while.
    static func expectAllArrived(_ world: World, exactlyOnce: Bool, source: SourceLocation = #_sourceLocation) {
        #expect(world.faults == [], sourceLocation: source)
        #expect(world.outbox.isBalanced, sourceLocation: source)
        #expect(world.outbox.pending == 0, "still waiting", sourceLocation: source)
        #expect(world.machine.status.backlog == 0, "counted as waiting", sourceLocation: source)
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
    ) async throws -> World {
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
            case 4: for _ in 0..<Int.random(in: 1...20, using: &dice) { world.evict() }
            default: break
            }
            await Self.pass(dice.seconds(60...540), in: &world)
        }
        world.weather = World.Weather()
        world.mqttIsReachable = true
        world.restIsReachable = true
        world.service.isKeyRefused = false
        world.isSampling = false
        world.queue.plan(world.now, .toMachine(life: world.life, connection: nil, .keyChanged))
        for _ in 0..<200 where world.outbox.pending > 0 { await Self.pass(300, in: &world) }
        await Self.pass(120, in: &world)
        return world
    }

    @Test("whatever breaks, all arrives, and once where that can be known", arguments: 1...4)
    func storms(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), hours: 2, texts: 1_000_000)

        Self.expectAllArrived(world, exactlyOnce: true)
    }

    @Test("values that repeat are told apart", arguments: 11...12)
    func repeatingValues(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), hours: 2, texts: seed % 3 + 1)

        Self.expectAllArrived(world, exactlyOnce: true)
    }

    @Test("what the service stores late may stand twice for a while, and is never lost", arguments: 21...22)
    func lateStores(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), hours: 2, texts: seed % 2 == 0 ? 3 : 1_000_000, late: true)

        Self.expectAllArrived(world, exactlyOnce: false)
    }

    @Test("other devices on the account and on our feeds cost budget and lose nothing", arguments: 31...32)
    func otherDevices(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), hours: 2, texts: 1_000_000, foreign: true)

        Self.expectAllArrived(world, exactlyOnce: false)
    }

    /// `FEEDBRIDGE_STORMS=N` tries N storms of 12 hours, about 60,000 steps each.
    @Test("many storms", .enabled(if: ProcessInfo.processInfo.environment["FEEDBRIDGE_STORMS"] != nil))
    func manyStorms() async throws {
        let count = Int(ProcessInfo.processInfo.environment["FEEDBRIDGE_STORMS"] ?? "") ?? 0
        var steps = 0
        for seed in 1000..<1000 + count {
            let (late, foreign) = (seed % 5 == 3, seed % 5 == 4)
            let texts = seed % 2 == 0 ? 1_000_000 : seed % 3 + 1
            let world = try await Self.storm(seed: UInt64(seed), hours: 12, texts: texts, late: late, foreign: foreign)
            Self.expectAllArrived(world, exactlyOnce: !late && !foreign)
            if !world.faults.isEmpty { Issue.record("storm \(seed)") }
            steps += world.steps
        }
        print("\(steps) steps in \(count) storms")
    }

    @Test("a backlog drains with at least 95 % of what is free, and live points stay live")
    func drain() async throws {
        var world = World(seed: 5, rules: try Self.rules([10, 15, 30], texts: 1_000_000))
        world.mqttIsReachable = false
        world.restIsReachable = false
        world.breakConnection()
        await Self.pass(4 * 3600, in: &world)
        world.mqttIsReachable = true
        world.restIsReachable = true
        await Self.pass(900, in: &world)
        let before = world.countByLink.values.reduce(0, +)
        let waiting = world.outbox.pending
        await Self.pass(3600, in: &world)
        let sent = world.countByLink.values.reduce(0, +) - before

        #expect(world.outbox.pending > 0, "there was something to drain all the time")
        #expect(waiting > world.outbox.pending)
        // 30 points a minute less the reserve of the switch, counted over 62 s for 60.
        #expect(Double(sent) >= 0.95 * 28 * 3600 / 62)
        #expect(world.faults == [])
        #expect(world.machine.status.drainTime != nil)
    }

    @Test("never more than 10 failed publishes in a minute, even if the service rejects all")
    func failedPublishes() async throws {
        var world = World(seed: 6, rules: try Self.rules(Array(repeating: 3, count: 15), texts: 1_000_000))
        world.weather.lostPublish = 1
        await Self.pass(3600, in: &world)

        #expect(world.service.mostRejectedInAMinute <= 10)
        #expect(world.service.mostRejectedInAMinute > 2)
        #expect(world.faults == [])
    }
}
