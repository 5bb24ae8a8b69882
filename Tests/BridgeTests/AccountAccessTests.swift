import AdafruitIO
import AdafruitIOClient
import Control
import DataPoints
import Diagnostics
import Simulator
import TestKit
import Testing

@testable import Bridge

@Suite("The account over REST", .timeLimit(.minutes(1)))
struct AccountAccessTests {
    /// What `prepare` has told.
    private final class Told: Sendable {
        struct Contents: Equatable {
            var learned: [Int?] = []
            var used: [Int] = []
            var blocked: [Set<FeedKey>] = []
            var attempts = 0
        }
        private let state = Guarded(Contents())
        var contents: Contents { state.withLock { $0 } }
        func change(_ body: @Sendable (inout Contents) -> Void) { state.withLock { body(&$0) } }
    }

    private func prepare(
        _ access: AccountAccess,
        _ feeds: [String],
        plan: Configuration.Account.Plan = .auto,
        _ told: Told
    ) async {
        await access.prepare(feeds: feeds.map(feed), plan: plan) { points, used in
            told.change {
                $0.learned.append(points)
                $0.used.append(used)
            }
        } blocked: { feeds in
            told.change { $0.blocked.append(feeds) }
        } attempted: {
            told.change { $0.attempts += 1 }
        }
    }

    private func access(
        _ io: SimulatedIO,
        key: String = "key",
        time: any TimeSource = SystemTime(),
        _ talk: Talk = Talk()
    )
        throws -> AccountAccess
    {
        try AccountAccess(try io.configuration(), key: Secret(key), time: time, log: talk.log)
    }

    @Test("missing feeds are made private, once, with their group; those that are there stay as they are")
    func makes() async throws {
        let io = try SimulatedIO()
        let client = try AdafruitIOClient(try io.configuration(), key: Secret("key"))
        _ = try await client.createFeed(AdafruitIOFeedSettings(name: "Old", key: "old", visibility: .public))
        let told = Told()

        await prepare(
            try access(io),
            ["old", "new", "new", "porch.light", "default.old", "default.fresh"],
            told
        )

        let feeds = try await client.feeds().value
        let visibility = Dictionary(uniqueKeysWithValues: feeds.map { ($0.key, $0.visibility) })
        #expect(visibility == ["old": .public, "new": .private, "porch.light": .private, "fresh": .private])
        #expect(told.contents.blocked == [[]])
        #expect(told.contents.attempts == 1)
        let again = Told()
        await prepare(try access(io), ["old", "new", "porch.light", "default.fresh"], again)
        #expect(try await client.feeds().value.count == 4)
    }

    @Test("the plan is learnt when it is to be asked for, and what the last minute has had always")
    func learns() async throws {
        let io = try SimulatedIO(.plus)
        let told = Told()
        await prepare(try access(io), ["a", "b"], told)
        #expect(told.contents.learned == [60])
        // Making feeds has cost points, too.
        #expect(told.contents.used == [2])

        await prepare(try access(io), ["a"], plan: .pointsPerMinute(20), told)
        #expect(told.contents.learned == [60, nil])
    }

    @Test("a feed that the service will not make is blocked and said, and the others are made")
    func refused() async throws {
        let io = try SimulatedIO(.free)
        let talk = Talk()
        let told = Told()

        await prepare(try access(io, talk), (0..<12).map { "f\($0)" }, told)

        #expect(told.contents.blocked == [[feed("f10"), feed("f11")]])
        #expect(talk.text.contains("feed f10 is missing and cannot be made"))
        #expect(told.contents.learned == [30])
    }

    @Test("a refused key is tried again after 15 minutes, and publishing is not held up for it")
    func wrongKey() async throws {
        let io = try SimulatedIO()
        let time = ManualTime()
        let told = Told()
        let talk = Talk()
        let access = try access(io, key: "aio_WRONG", time: time, talk)
        let task = Task { await prepare(access, ["a"], told) }
        await time.untilSleeping()
        #expect(told.contents == Told.Contents(attempts: 1))
        #expect(talk.text.contains("Next try in 900 s"))
        #expect(!talk.text.contains("aio_WRONG"))

        try access.apply(try io.configuration(), key: Secret("key"))
        time.advance(by: .seconds(899))
        #expect(told.contents.learned.isEmpty)
        time.advance(by: .seconds(1))

        await task.value
        #expect(told.contents.learned == [10_000])
        #expect(told.contents.attempts == 1)
    }

    @Test(
        "a service that is away is asked again, ever more seldom, and as late as it says",
        arguments: [
            (.rest(status: 503, retryAfter: nil, count: 2), [10, 20]),
            (.rest(status: 429, retryAfter: 77, count: 1), [77]),
        ] as [(Fault, [Int64])]
    )
    func away(fault: Fault, pauses: [Int64]) async throws {
        let io = try SimulatedIO(.custom(pointsPerMinute: 1000), [fault])
        let time = ManualTime()
        let told = Told()
        let talk = Talk()
        let access = try access(io, time: time, talk)
        let task = Task { await prepare(access, ["a"], told) }

        for pause in pauses {
            await time.untilSleeping()
            try await until("it is said") { talk.text.contains("Next try in \(pause) s") }
            time.advance(by: .seconds(pause))
        }

        await task.value
        #expect(told.contents.learned == [1000])
    }

    @Test("an attempt that changed settings have overtaken tells nothing any more")
    func overtaken() async throws {
        let io = try SimulatedIO(.custom(pointsPerMinute: 1000), [.restSlow(milliseconds: 300)])
        let told = Told()
        let access = try access(io)

        let task = Task { await prepare(access, ["a"], told) }
        task.cancel()
        await task.value

        #expect(told.contents == Told.Contents())
    }

    @Test(
        "the control feed's newest value comes with its time and the clocks' difference; an empty feed is told from a failure"
    )
    func lastValue() async throws {
        let io = try SimulatedIO()
        let access = try access(io)
        let client = try AdafruitIOClient(try io.configuration(), key: Secret("key"))
        #expect(await access.lastValue(of: feed("recording"), read: 1) == .empty(read: 1))
        _ = try await client.createFeed(AdafruitIOFeedSettings(name: "recording"))
        _ = try await client.create(DataPoint(feed: feed("recording"), value: "ON", createdAt: SystemTime().wall()))

        guard
            case .last(let text, let createdAt, let offset, let read) = await access.lastValue(
                of: feed("recording"),
                read: 2
            )
        else {
            Issue.record("no value")
            return
        }
        #expect(text == "ON")
        #expect(read == 2)
        #expect(createdAt != nil)
        #expect(try abs(#require(offset).inSeconds) < 30)
        await io.simulator.stop()
        #expect(await access.lastValue(of: feed("recording"), read: 3) == .readFailed(read: 3))
    }
}
