import AdafruitIO
import AdafruitIOClient
import Control
import DataPoints
import Diagnostics
import Publisher
import Simulator
import TestKit
import Testing

@testable import Bridge

/// An account on a simulator, reached through a running publisher.
private final class AccountWorld: Sendable {
    let flow: FlowWorld
    let access: AccountAccess
    let client: AdafruitIOClient
    private let driver: PublisherDriver
    private let running: Task<Void, Never>
    private let told = Guarded<[FeedKey]>([])

    init(_ io: SimulatedIO, key: String = "key") async throws {
        flow = try await FlowWorld()
        let configuration = try io.configuration()
        let driver = try flow.delivery(configuration, key: key, SystemTime())
        self.driver = driver
        access = AccountAccess(delivery: driver, time: SystemTime(), log: flow.talk.log)
        client = try AdafruitIOClient(configuration, key: Secret("key"))
        running = Task { await driver.run() }
    }

    var ready: [String] { told.withLock { $0.map(\.text) } }

    /// Prepares until it is done or the task is cancelled.
    func prepare(_ feeds: [String]) async {
        await access.prepare(feeds: feeds.map(feed)) { ready in told.withLock { $0 += ready } }
    }

    func end() async {
        driver.stop()
        await running.value
    }
}

@Suite("The account over REST", .timeLimit(.minutes(1)))
struct AccountAccessTests {
    @Test("missing feeds are made private, once, with their group; those that are there stay as they are")
    func makes() async throws {
        let io = try SimulatedIO()
        let world = try await AccountWorld(io)
        _ = try await world.client.createFeed(AdafruitIOFeedSettings(name: "Old", key: "old", visibility: .public))
        let wanted = ["old", "new", "new", "porch.light", "default.old", "default.fresh"]

        await world.prepare(wanted)

        let feeds = try await world.client.feeds().value
        let visibility = Dictionary(uniqueKeysWithValues: feeds.map { ($0.key, $0.visibility) })
        #expect(visibility == ["old": .public, "new": .private, "porch.light": .private, "fresh": .private])
        #expect(world.ready == wanted)
        await world.prepare(wanted)
        #expect(try await world.client.feeds().value.count == 4)
        await world.end()
    }

    @Test("a feed that the service will not make is said and never ready, and the others are made")
    func refused() async throws {
        let io = try SimulatedIO(.free)
        let world = try await AccountWorld(io)

        let task = Task { await world.prepare((0..<12).map { "f\($0)" }) }
        try await until("ten are ready") { world.ready.count == 10 }
        task.cancel()
        await task.value

        #expect(!world.ready.contains("f10") && !world.ready.contains("f11"))
        #expect(world.flow.talk.text.contains("feed f10 is missing and cannot be made"))
        await world.end()
    }

    @Test("a refused key makes nothing, and is tried again after 15 minutes")
    func wrongKey() async throws {
        let io = try SimulatedIO()
        let world = try await AccountWorld(io, key: "aio_WRONG")

        let task = Task { await world.prepare(["a"]) }
        try await until("it is said") { world.flow.talk.text.contains("refuses user name or key") }
        task.cancel()
        await task.value

        #expect(world.ready.isEmpty)
        #expect(try await world.client.feeds().value.isEmpty)
        #expect(!world.flow.talk.text.contains("aio_WRONG"))
        await world.end()
    }

    @Test("while REST is away altogether, points need not wait for it")
    func away() async throws {
        let io = try SimulatedIO()
        let world = try await AccountWorld(io)
        await io.simulator.stop()

        let task = Task { await world.prepare(["a"]) }
        try await until("the feed is taken as there") { world.ready == ["a"] }
        task.cancel()
        await task.value
        await world.end()
    }

    @Test(
        "the control feed's newest value comes with its time and the clocks' difference; an empty feed is told from a failure"
    )
    func lastValue() async throws {
        let io = try SimulatedIO()
        let world = try await AccountWorld(io)
        // At first the account's state is asked for.
        try await until("REST may be used") {
            await world.access.lastValue(of: feed("recording"), read: 1) == .empty(read: 1)
        }
        _ = try await world.client.createFeed(AdafruitIOFeedSettings(name: "recording"))
        let point = DataPoint(feed: feed("recording"), value: "ON", createdAt: SystemTime().wall())
        _ = try await world.client.create(point)

        let answer = await world.access.lastValue(of: feed("recording"), read: 2)
        guard case .last(let text, let createdAt, let offset, let read) = answer else {
            Issue.record("no value")
            return
        }
        #expect(text == "ON")
        #expect(read == 2)
        #expect(createdAt != nil)
        #expect(try abs(#require(offset).inSeconds) < 30)
        await io.simulator.stop()
        #expect(await world.access.lastValue(of: feed("recording"), read: 3) == .readFailed(read: 3))
        await world.end()
    }
}
