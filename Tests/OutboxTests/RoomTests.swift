import DataPoints
import Diagnostics
import Foundation
import Outbox
import SQLite
import TestKit
import Testing

@Suite("A full outbox", .timeLimit(.minutes(5)))
struct RoomTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    func open(_ policy: OutboxSettings.WhenFull) async throws -> OutboxStore {
        var settings = OutboxSettings()
        settings.maxBytes = 1 << 20
        settings.whenFull = policy
        settings.durability = .normal
        return try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
    }

    /// Appends `count` points, one a second, over two feeds of unequal shares, and checks the bound after each commit.
    func fill(_ store: OutboxStore, _ count: Int, from start: Int = 0) async throws {
        for first in stride(from: start, to: start + count, by: 250) {
            store.append(
                (first..<first + 250).map { number in
                    time.point(number % 10 == 0 ? door : load, number, after: Double(number))
                }
            )
            try await store.flush()
            #expect(store.files.usedBytes() <= 1 << 20)
        }
    }

    @Test("thinning keeps the shape: from the first to the newest point with gaps that differ by a factor of eight")
    func thins() async throws {
        let store = try await open(.thin)
        try await fill(store, 60_000)

        let statistics = store.statistics
        #expect(statistics.total.accepted == 60_000 && statistics.total.isBalanced)
        let points = try await OutboxReader(folder: folder.path).all()
        #expect(points.count == statistics.total.pending && points.count > 2000)
        // Each feed loses the same part, and each loss is counted to its feed.
        for (feed, share) in [(load, 54_000), (door, 6000)] {
            let counts = try #require(statistics.feeds[feed])
            let numbers = points.filter { $0.point.feed == feed }.compactMap { Int($0.point.value) }
            #expect(counts.accepted == share && counts.evictedBy[.full] == share - numbers.count)
            let part = Double(numbers.count) / Double(share) * Double(60_000) / Double(points.count)
            #expect(part > 0.9 && part < 1.1, "\(feed) kept \(part) of its share")
            #expect(numbers == numbers.sorted())
            // In the older half the kept points are spread evenly.
            let old = numbers.prefix { $0 < 30_000 }
            let gaps = zip(old, old.dropFirst()).map { $1 - $0 }.sorted()
            let median = gaps[gaps.count / 2]
            #expect(old.first ?? .max < 200 && (gaps.last ?? .max) <= median * 8, "\(gaps.last ?? 0) \(median)")
        }
        #expect(points.last?.point.value == "59999")
    }

    @Test("drop-oldest keeps the newest without a gap")
    func dropsOldest() async throws {
        let store = try await open(.dropOldest)
        try await fill(store, 20_000)
        let numbers = try await OutboxReader(folder: folder.path).all().compactMap { Int($0.point.value) }
        #expect(numbers.count > 3000 && numbers == Array((20_000 - numbers.count)..<20_000))
        #expect(store.statistics.total.evictedBy == [.full: 20_000 - numbers.count])
        #expect(store.statistics.total.isBalanced)
    }

    @Test("drop-newest keeps what there is, tells who waits, and takes points again when there is room")
    func dropsNewest() async throws {
        let store = try await open(.dropNewest)
        try await fill(store, 20_000)
        let points = try await OutboxReader(folder: folder.path).all()
        #expect(points.map(\.point.value) == (0..<points.count).map(String.init))
        #expect(store.statistics.total.evictedBy == [.full: 20_000 - points.count])
        let error = try await #require(throws: OutboxError.self) {
            try await store.durably((0..<250).map { time.point(load, $0) })
        }
        #expect(error == .full && error.isRetriable)

        store.confirm(points.prefix(2000).map(\.id))
        try await store.flush()
        try await store.durably([time.point(load, 1)])
        #expect(store.statistics.total.isBalanced)
    }

    @Test("points of a higher priority and points being sent stay while others go")
    func priorities() async throws {
        let store = try await open(.dropOldest)
        store.append((0..<100).map { time.point(door, $0) }, priority: 5)
        store.append([time.point(load, "sending")])
        try await store.flush()
        try await store.markSending([101])
        try await fill(store, 20_000)
        let points = try await OutboxReader(folder: folder.path).all()
        #expect(points.filter { $0.priority == 5 }.count == 100)
        #expect(points.contains { $0.state == .sending })
        #expect((store.statistics.total.evictedBy[.full] ?? 0) > 5000 && store.statistics.total.isBalanced)
    }

    @Test("space is given back to the disk when points leave")
    func givesBack() async throws {
        var settings = OutboxSettings()
        settings.durability = .normal
        let store = try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
        for _ in 0..<20 {
            store.append((0..<1000).map { time.point(load, $0) })
            try await store.flush()
        }
        let before = store.files.usedBytes()
        for first in stride(from: Int64(1), through: 20_000, by: 500) {
            store.confirm(Array(first..<first + 500))
            try await store.flush()
        }
        try await store.close()
        let after = store.files.usedBytes()
        #expect(before > 2_000_000 && after < 500_000, "\(before) \(after)")
    }
}
