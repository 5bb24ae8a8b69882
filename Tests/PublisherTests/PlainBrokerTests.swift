import DataPoints
import Diagnostics
import Foundation
import Publisher
import Testing

@Suite("Publisher: a plain broker")
struct PlainBrokerTests {
    let feed: FeedKey
    let other: FeedKey

    init() throws {
        feed = try #require(FeedKey("load"))
        other = try #require(FeedKey("weather.wind"))
    }

    private func ready(inFlight: Int = 4, perMessage: Int = 1, plan: Int? = nil) -> Bench {
        var bench = Bench(
            feeds: [feed],
            plan: plan,
            profile: .plain(inFlight: inFlight, pointsPerMessage: perMessage)
        )
        bench.connect()
        return bench
    }

    @Test("subscribes to the switch alone, asks nothing by REST, and is the link at once")
    func link() {
        let bench = ready()

        #expect(bench.machine.status.link == .mqtt)
        #expect(bench.throttleRead == nil)
        #expect(bench.machine.status.limit == nil)
        #expect(bench.machine.status.left == nil)
    }

    @Test("a lost window is sent again in order, before what came after it, and each of its points is doubtful")
    func lostWindow() {
        var bench = ready()
        for number in 0..<10 { bench.sample(feed, "\(number)") }
        bench.mqtt(.acknowledgedAll([1, 2]))
        #expect(bench.confirmed == [1, 2])
        #expect(bench.published.map(\.id) == [5, 6])

        bench.mqtt(.notSent([6]))
        bench.mqtt(.ended(.failed(.closed)))
        #expect(bench.actions.contains(.markDoubtful([3, 4, 5])))
        #expect(bench.actions.contains(.doubt(3)))
        bench.wait(4)
        bench.connect()

        #expect(bench.published.map(\.id) == [3, 4, 5, 6])
        for message in bench.messages { bench.mqtt(.acknowledged(message: message)) }
        #expect(bench.machine.status.backlog == 0 || !bench.published.isEmpty)
        #expect(bench.machine.status.doubt == 3)
    }

    @Test("several points of one feed share a message where asked, feeds take turns")
    func shared() {
        var bench = ready(inFlight: 2, perMessage: 3)
        let blocked = ["a", "b"]
        for text in blocked { bench.sample(feed, text) }
        for number in 0..<5 { bench.sample(feed, "\(number)") }
        for number in 0..<2 { bench.sample(other, "\(number)") }
        bench.mqtt(.acknowledgedAll([1, 2]))

        let messages = bench.actions.compactMap { action -> [Int]? in
            if case .publish(_, _, let points) = action { points.map(\.id) } else { nil }
        }
        #expect(messages == [[8, 9], [3, 4, 5]] || messages == [[3, 4, 5], [8, 9]])
    }

    @Test("a broker that acknowledges nothing for 30 s is left, and tried again within seconds")
    func silence() {
        var bench = ready()
        bench.sample(feed, "1")
        bench.wait(29)
        #expect(!bench.actions.contains(.disconnect(connection: 1)))
        bench.wait(2)
        #expect(bench.actions.contains(.report(.silentConnection)))
        #expect(bench.actions.contains(.disconnect(connection: 1)))
        bench.mqtt(.ended(.failed(.closed)))
        bench.wait(4)
        #expect(bench.connects == 1)
    }

    @Test("without a plan there is no budget; with one it holds, the switch's part kept back")
    func plan() {
        var free = ready(inFlight: 1000)
        for number in 0..<500 { free.sample(feed, "\(number)") }
        #expect(free.machine.status.backlog == 0)

        var bench = ready(inFlight: 1000, plan: 30)
        var sent = 0
        for number in 0..<100 {
            bench.sample(feed, "\(number)")
            sent += bench.published.count
            bench.mqtt(.acknowledgedAll(bench.messages))
        }
        #expect(sent == 28)
        #expect(bench.machine.status.limit == 30)
        #expect(bench.machine.status.stretch == nil)
        bench.wait(61)
        #expect(bench.published.isEmpty)
        bench.wait(2)
        #expect(bench.published.count == 28)
    }

    @Test("what was being sent when the program died is sent again, in order, and counted as doubtful")
    func crash() {
        var bench = Bench(feeds: [feed], profile: .plain(inFlight: 4, pointsPerMessage: 1), start: false)
        bench.hand(.start(waiting: [feed: 3]))
        bench.connect()
        let page = bench.actions.contains { action in
            if case .requestPage(feed, _, _) = action { true } else { false }
        }
        #expect(page)
        let points = (1...3).map { id in
            PublisherPoint(
                id: id,
                point: DataPoint(feed: feed, value: "\(id)", createdAt: bench.time(0)),
                bornAt: nil,
                attempts: id < 3 ? 1 : 0
            )
        }
        bench.hand(.page(feed, points, hasMore: false))

        #expect(bench.published.map(\.id) == [1, 2, 3])
        #expect(bench.actions.contains(.doubt(2)))
    }

    @Test("offline, memory holds a bounded part of what waits, and a connection reads the rest page by page")
    func bounded() throws {
        var world = PlainWorld(seed: 1, feeds: [feed], inFlight: 100, perMessage: 1)
        world.isReachable = false
        world.run(for: 2500)
        #expect(world.outbox.accepted > 5000)
        world.isSampling = false
        world.isReachable = true
        world.run(for: 600)

        #expect(world.outbox.pending == 0)
        #expect(world.faults == [])
        #expect(world.arrived[feed] == Array(1...world.outbox.accepted))
    }
}

@Suite("Publisher and a plain broker in a simulated world", .serialized, .timeLimit(.minutes(10)))
struct PlainWorldTests {
    /// Random breaks, freezes, restarts and floods, then a fair hour.
    static func storm(seed: UInt64, rounds: Int, plan: Int? = nil) async throws -> PlainWorld {
        var dice = Dice(state: seed &* 31)
        let feeds = try (0..<Int.random(in: 1...4, using: &dice)).map { try #require(FeedKey("feed-\($0)")) }
        var world = PlainWorld(
            seed: seed,
            feeds: feeds,
            inFlight: [1, 5, 40, 300][Int.random(in: 0..<4, using: &dice)],
            perMessage: [1, 1, 7][Int.random(in: 0..<3, using: &dice)],
            plan: plan
        )
        for _ in 0..<rounds {
            world.breaks = [0, 0, 0.01, 0.1, 0.5][Int.random(in: 0..<5, using: &dice)]
            world.isReachable = !dice.chance(0.2)
            switch Int.random(in: 0..<8, using: &dice) {
            case 0: world.restart()
            case 1, 2: world.breakConnection()
            case 3: world.isFrozen = true
            case 4: world.evict(world.feeds[0])
            case 5: world.hand(.keyChanged)
            default: break
            }
            world.run(for: dice.seconds(1...60))
            await Task.yield()
        }
        world.breaks = 0
        world.isReachable = true
        world.isSampling = false
        world.breakConnection()
        for _ in 0..<400 where world.outbox.pending > 0 {
            world.run(for: 60)
            await Task.yield()
        }
        return world
    }

    static func expectAllArrived(_ world: PlainWorld, source: SourceLocation = #_sourceLocation) {
        #expect(world.faults == [], sourceLocation: source)
        #expect(world.outbox.pending == 0, "still waiting", sourceLocation: source)
        #expect(world.outbox.isBalanced, sourceLocation: source)
        var copies = 0
        for (feed, ids) in world.arrived {
            var seen: Set<Int> = []
            var newest = 0
            for id in ids {
                guard seen.insert(id).inserted else {
                    copies += 1
                    continue
                }
                if id < newest { Issue.record("\(id) of \(feed) arrives after \(newest)", sourceLocation: source) }
                newest = max(newest, id)
            }
        }
        let arrived = Set(world.arrived.values.joined())
        let lost = (1...max(1, world.outbox.accepted)).filter {
            !arrived.contains($0) && !world.outbox.evicted.contains($0)
        }
        #expect(lost == [], sourceLocation: source)
        #expect(copies <= world.doubts, "a double that was not counted", sourceLocation: source)
    }

    @Test("whatever breaks, all arrives in order, and what may be double is counted", arguments: 1...10)
    func storms(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), rounds: 60)

        Self.expectAllArrived(world)
    }

    @Test("a plan holds in all weathers", arguments: 41...43)
    func plans(seed: Int) async throws {
        let world = try await Self.storm(seed: UInt64(seed), rounds: 40, plan: 20_000)

        Self.expectAllArrived(world)
    }

    /// `FEEDBRIDGE_STORMS=N` tries N long storms.
    @Test("many storms", .enabled(if: ProcessInfo.processInfo.environment["FEEDBRIDGE_STORMS"] != nil))
    func manyStorms() async throws {
        let count = Int(ProcessInfo.processInfo.environment["FEEDBRIDGE_STORMS"] ?? "") ?? 0
        var steps = 0
        for seed in 5000..<5000 + count {
            let world = try await Self.storm(seed: UInt64(seed), rounds: 300, plan: seed % 5 == 0 ? 20_000 : nil)
            Self.expectAllArrived(world)
            if !world.faults.isEmpty { Issue.record("storm \(seed)") }
            steps += world.steps
        }
        print("\(steps) steps in \(count) storms of a plain broker")
    }
}
