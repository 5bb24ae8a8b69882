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
}
