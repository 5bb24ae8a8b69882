import DataPoints
import Diagnostics
import Foundation
import Outbox
import TestKit
import Testing

@Suite("The outbox", .timeLimit(.minutes(1)))
struct QueueTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    func open(_ settings: OutboxSettings = OutboxSettings()) async throws -> OutboxStore {
        try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
    }

    @Test("keeps everything about a point across a restart, in order, with ids that go on")
    func keepsAll() async throws {
        let place = Location(latitude: 40.5, longitude: -3.25, elevation: 700)
        let points = [
            DataPoint(feed: load, value: "0.25", createdAt: time.wall(), location: place),
            DataPoint(feed: load, value: "", createdAt: time.wall() + .nanoseconds(1)),
            DataPoint(
                feed: load,
                value: "ä\u{0}\"'",
                createdAt: time.wall(),
                location: Location(latitude: 1, longitude: 2)
            ),
        ]
        var store = try await open()
        store.append(Array(points[..<2]))
        store.append([points[2]], priority: 7)
        store.append([time.point(door, "open")])
        try await store.close()

        store = try await open()
        store.append([time.point(load, "last")])
        try await store.flush()

        let read = try await store.points(of: load)
        #expect(read.prefix(3).map(\.point) == points)
        #expect(read.map(\.id) == [1, 2, 3, 5])
        #expect(read.map(\.priority) == [0, 0, 7, 0])
        #expect(read.allSatisfy { $0.state == .waiting && $0.attempts == 0 })
        #expect(try await store.points(of: door).map(\.id) == [4])
        #expect(store.statistics.total.accepted == 5 && store.statistics.total.pending == 5)
    }

    @Test("an append never waits, and its commit comes within 50 ms of it")
    func groupCommit() async throws {
        let store = try await open()
        let running = Task { try await store.run() }
        store.append([time.point(load, 1)])
        store.append([time.point(load, 2)])
        #expect(store.statistics.total.buffered == 2)
        // The wait for more points, and that of the housekeeping.
        await time.untilSleeping(2)

        time.advance(by: .milliseconds(50))
        // What was there at the start is announced, too.
        for await _ in store.arrivals where store.statistics.total.pending == 2 { break }

        #expect(store.statistics.total.buffered == 0 && store.statistics.total.pending == 2)
        #expect(try await OutboxReader(folder: folder.path).all().map(\.point.value) == ["1", "2"])
        running.cancel()
        _ = await running.result
    }

    @Test("many durable points share their commits")
    func durably() async throws {
        let store = try await open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { [time] in
                    try await store.durably([time.point(load, number)])
                    let found = try await OutboxReader(folder: store.files.folder).all().map(\.point.value)
                    #expect(found.contains("\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(store.statistics.total.pending == 100)
    }

    @Test("a point goes from waiting over sending to confirmed, and only then leaves")
    func confirms() async throws {
        let store = try await open()
        store.append((0..<5).map { time.point(load, $0) })
        try await store.flush()

        let taken = try await store.take(of: load, limit: 2)
        #expect(taken.map(\.id) == [1, 2] && taken.allSatisfy { $0.attempts == 1 && $0.state == .sending })
        #expect(try await store.points(of: load).map(\.id) == [3, 4, 5])
        store.confirm([1])
        store.putBack([2])
        // Reading sees what was said before it.
        #expect(try await store.points(of: load).map(\.id) == [2, 3, 4, 5])
        #expect(try await store.points(of: load, order: .newestFirst, limit: 2).map(\.id) == [5, 4])
        #expect(try await store.points(of: load, order: .newestFirst, beyond: 4, limit: 9).map(\.id) == [3, 2])
        #expect(try await store.points(of: load, beyond: 3, limit: 9).map(\.id) == [4, 5])

        let counts = store.statistics.total
        #expect(counts.accepted == 5 && counts.confirmed == 1 && counts.pending == 4 && counts.isBalanced)
        store.confirm([1, 99])
        try await store.flush()
        #expect(store.statistics.total == counts)
    }

    @Test("the newest point of each feed comes in the order of priority")
    func newest() async throws {
        let store = try await open()
        store.append([time.point(load, 1), time.point(load, 2), time.point(feed("a"), 3)])
        store.append([time.point(door, 4)], priority: 9)
        store.append([time.point(door, 5)], priority: 1)
        try await store.flush()
        try await store.markSending([2])

        let newest = try await store.newestOfEach()

        #expect(newest.map(\.point.value) == ["5", "1", "3"])
    }

    @Test(
        "a refused point goes to the dead letters with the reason and blocks nothing; retry puts it back in its place"
    )
    func deadLetters() async throws {
        let store = try await open()
        store.append((0..<4).map { time.point(load, $0) })
        try await store.flush()
        store.refuse([2, 3], reason: "422: value is too long")
        try await store.flush()

        let reader = OutboxReader(folder: folder.path)
        let letters = try await reader.deadLetters()
        #expect(letters.map(\.id) == [2, 3] && letters[0].reason == "422: value is too long")
        #expect(letters[0].point.value == "1")
        #expect(store.statistics.total.refused == 2 && store.statistics.total.isBalanced)
        #expect(try await store.points(of: load).map(\.id) == [1, 4])

        #expect(try await store.retry([2, 77]) == 1)
        #expect(try await store.points(of: load).map(\.id) == [1, 2, 4])
        #expect(try await store.retryAll() == 1)
        #expect(try await store.points(of: load).map(\.id) == [1, 2, 3, 4])
        #expect(try await reader.deadLetters().isEmpty)
        #expect(store.statistics.total.refused == 0 && store.statistics.total.isBalanced)
    }

    @Test("drop empties one feed but for what is being sent, and counts it")
    func drop() async throws {
        let store = try await open()
        store.append((0..<1200).map { time.point(load, $0) })
        store.append([time.point(door, "open")])
        try await store.flush()
        try await store.markSending([1])
        store.hold([2])
        store.doubt([3])

        #expect(try await store.drop(feed: load) == 1199)

        let counts = try #require(store.statistics.feeds[load])
        #expect(counts.evictedBy == [.command: 1199] && counts.states == [.sending: 1] && counts.isBalanced)
        #expect(store.statistics.feeds[door]?.pending == 1)
    }

    @Test("held points are not shown until they are released")
    func holds() async throws {
        let store = try await open()
        store.append([time.point(load, 1), time.point(load, 2)])
        try await store.flush()
        store.hold([1])
        #expect(try await store.points(of: load).map(\.id) == [2])
        #expect(try await store.release() == 1)
        #expect(try await store.points(of: load).map(\.id) == [1, 2])
    }

    @Test("sending a doubtful point again without a look is counted as a double, perhaps")
    func countsDoubles() async throws {
        let store = try await open()
        store.append([time.point(load, 1), time.point(load, 2)])
        try await store.flush()
        try await store.markSending([1, 2])
        store.doubt([1, 2])
        // Looked up and not found: no double.
        store.putBack([1])
        try await store.markSending([1, 2])
        #expect(store.statistics.total.doubt == 1)
        #expect(try await store.points(of: load, in: .sending).map(\.attempts) == [2, 2])
    }

    @Test("what comes faster than the disk takes it is dropped and counted by feed")
    func boundedMemory() async throws {
        var settings = OutboxSettings()
        settings.bufferBytes = 200_000
        let store = try await open(settings)
        // The actor is busy while these come: nothing is committed in between unless by chance.
        for number in 0..<20_000 { store.append([time.point(number % 2 == 0 ? load : door, number)]) }
        try await store.flush()
        try await store.flush()

        let counts = store.statistics
        #expect(counts.total.accepted == 20_000 && counts.total.isBalanced)
        let dropped = counts.total.evictedBy[.buffer] ?? 0
        #expect(counts.total.pending + dropped == 20_000)
        #expect(try await OutboxReader(folder: folder.path).statistics().counts == counts)
    }

    @Test("a second process is refused with a sentence that names the first")
    func secondProcess() async throws {
        let store = try await open()
        let path = folder.path
        let owner = getpid()
        await #expect(processExitsWith: .success) { [path = path as String, owner = owner as Int32] in
            do {
                _ = try await OutboxStore.open(folder: path)
                exit(3)
            } catch {
                let text = "\(error)"
                exit(text.contains("another feedbridge (process \(owner))") && text.contains("Stop it") ? 0 : 4)
            }
        }
        #expect(store.files.isInUse)
        try await store.close()
        #expect(!store.files.isInUse)
    }

    @Test("an older program refuses a newer file and does not touch it")
    func newerSchema() async throws {
        try await open().close()
        let path = folder.file("outbox.sqlite")
        try sqlite(path, "PRAGMA user_version = 99")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let error = try await #require(throws: OutboxError.self) { _ = try await open() }

        #expect(error.description.contains("schema version 99"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(OutboxFiles(folder: folder.path).damaged().isEmpty)
    }

    @Test("a reader says when there is no outbox")
    func noOutbox() async throws {
        let error = try await #require(throws: OutboxError.self) {
            _ = try await OutboxReader(folder: folder.path).statistics()
        }
        #expect(error.description.contains("There is no outbox"))
    }
}
