import DataPoints
import Diagnostics
import Foundation
import SQLite
import TestKit
import Testing

@testable import Outbox

@Suite("A damaged outbox", .timeLimit(.minutes(2)))
struct DamageTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()
    var path: String { folder.file("outbox.sqlite") }

    func open(log: Log = .silent) async throws -> OutboxStore {
        var settings = OutboxSettings()
        settings.durability = .normal
        return try await OutboxStore.open(folder: folder.path, settings: settings, time: time, log: log)
    }

    /// 6,000 points of two feeds with values that tell their ids; 1,000 of them confirmed, one in the dead letters.
    func prepare() async throws {
        let store = try await open()
        for first in stride(from: 1, through: 6000, by: 500) {
            store.append(
                (first..<first + 500).map { time.point($0 % 3 == 0 ? door : load, "value \($0)", after: Double($0)) }
            )
            try await store.flush()
        }
        store.confirm(Array(1...1000))
        store.refuse([1001], reason: "too long")
        try await store.flush()
        try await store.close()
    }

    /// Checks that all that was put back is what it was, each once, and no new point has an old id.
    func check(_ store: OutboxStore, atLeast: Int) async throws {
        let points = try await OutboxReader(folder: folder.path).all()
        let old = points.filter { $0.point.value.hasPrefix("value ") }
        #expect(old.allSatisfy { $0.point.value == "value \($0.id)" })
        #expect(old.allSatisfy { $0.point.feed == ($0.id % 3 == 0 ? door : load) })
        #expect(old.allSatisfy { $0.point.createdAt == time.wall() + .seconds(Double($0.id)) })
        #expect(old.count >= atLeast && Set(points.map(\.id)).count == points.count, "\(old.count)")
        let counts = store.statistics.total
        #expect(counts.isBalanced && counts.pending == points.count)
        let new = try #require(points.first { $0.point.value == "new" })
        #expect(new.id > 6000 && new.id < 1 << 53)
    }

    @Test(
        "is set aside whole, a new one begins at once, and what can be read is put back",
        arguments: [
            ("zeros", 0), ("text", 0), ("header", 4900), ("first page", 4900), ("truncated", 1500), ("middle", 4000),
        ]
    )
    func unusable(kind: String, atLeast: Int) async throws {
        try await prepare()
        try change(path) { data in
            switch kind {
            case "zeros": data.replaceSubrange(0..<data.count, with: Data(count: data.count))
            case "text": data = Data(String(repeating: "no database ", count: 1000).utf8)
            case "header": data.replaceSubrange(0..<100, with: Data(repeating: 0xff, count: 100))
            case "first page": data.replaceSubrange(0..<4096, with: Data(count: 4096))
            case "truncated": data = data.prefix(data.count / 2)
            default:
                let middle = data.count / 2 / 4096 * 4096
                data.replaceSubrange(middle..<middle + 3 * 4096, with: Data(repeating: 0xa5, count: 3 * 4096))
            }
        }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        let lines = Guarded<[String]>([])
        let store = try await open(log: Log(program: "test") { line in lines.withLock { $0.append(line) } })
        store.append([time.point(load, "new")])
        try await store.flush()
        // What is damaged within the points shows when they are read, or to the look that `run` takes.
        await store.verifyForTest()
        try await store.salvage()

        let aside = store.files.damaged()
        #expect(aside.count == 1)
        let kept = try Data(contentsOf: URL(fileURLWithPath: try #require(aside.first)))
        // Damage that showed late: what came until then is in the old file too.
        #expect(kind == "middle" ? kept.range(of: Data(repeating: 0xa5, count: 3 * 4096)) != nil : kept == damaged)
        #expect(lines.withLock { $0.contains { $0.contains("set aside as \(folder.path)/outbox.corrupt-") } })
        try await check(store, atLeast: atLeast)
        #expect(await store.condition.damagedFiles == aside)
        #expect(await store.condition.isSalvaging == false)
        if kind == "middle" {
            // The counts of the past were readable: what was lost is counted.
            let counts = store.statistics.total
            #expect(counts.accepted == 6001 && counts.confirmed == 1000 && counts.refused == 1)
            #expect(counts.evictedBy[.damage] == 6001 - 1001 - counts.pending)
            #expect(try await OutboxReader(folder: folder.path).deadLetters().map(\.reason) == ["too long"])
        }
    }

    @Test("a flipped bit in a value, which the database does not see, sends no wrong value")
    func flippedValue() async throws {
        try await prepare()
        try change(path) { data in
            let range = data.range(of: Data("value 4321".utf8))
            #expect(range != nil)
            if let range { data[range.lowerBound + 7] ^= 1 }
        }
        let store = try await open()
        let points = try await store.points(of: load, beyond: 4300, limit: 50)
        #expect(points.allSatisfy { $0.point.value == "value \($0.id)" } && !points.contains { $0.id == 4321 })
        try await store.flush()
        let letters = try await OutboxReader(folder: folder.path).deadLetters(after: 4000)
        #expect(store.statistics.total.refused == 2 && store.statistics.total.isBalanced)
        // It does not pass for a point any more, not even there; the row itself stays in the file.
        #expect(letters.isEmpty)
        #expect(try sqlite(path, "SELECT id, reason FROM dead WHERE id = 4321") == "4321|damaged on the disk\n")
    }

    @Test("flipped bits in the log lose nothing silently: the log is kept and its points are put back")
    func flippedLog() async throws {
        try await prepare()
        var store = try await open()
        for number in 6001...6400 {
            store.append([time.point(number % 3 == 0 ? door : load, "value \(number)", after: Double(number))])
            if number % 50 == 0 { try await store.flush() }
        }
        // What a crash leaves: copied while the store has it open.
        let copy = TemporaryDirectory()
        for name in ["outbox.sqlite", "outbox.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
        }
        try await store.close()
        try change(copy.file("outbox.sqlite-wal")) { data in data[data.count / 4] ^= 0x10 }

        store = try await OutboxStore.open(folder: copy.path, time: time)
        let before = store.statistics.total.pending
        store.append([time.point(load, "new")])
        try await store.flush()
        try await store.salvage()

        #expect(before < 5399)
        let points = try await OutboxReader(folder: copy.path).all()
        #expect(points.filter { $0.point.value == "value \($0.id)" }.count == 5399)
        #expect(points.count == 5400 && store.statistics.total.isBalanced)
        #expect(store.files.damaged().count == 1)
    }

    @Test("a salvage that a crash cut short goes on, and puts nothing back twice")
    func resumes() async throws {
        try await prepare()
        try change(path) { $0.replaceSubrange(0..<100, with: Data(repeating: 0xff, count: 100)) }
        var store = try await open()
        store.append([time.point(load, "new")])
        let salvaging = Task { [store] in try await store.salvage() }
        // Some points are back: they are confirmed while the rest is still being put back.
        while store.statistics.total.pending < 500 { await Task.yield() }
        let some = try await OutboxReader(folder: folder.path).all(.doubt).prefix(300).map(\.id)
        store.confirm(some)
        // One that may not be back yet is confirmed too.
        store.confirm([5999])
        try await store.flush()
        try? await store.close()
        _ = await salvaging.result
        #expect(store.statistics.total.confirmed >= some.count)

        store = try await open()
        try await store.salvage()

        let ids = try await OutboxReader(folder: folder.path).all().map(\.id)
        #expect(Set(ids).isDisjoint(with: some) && !ids.contains(5999))
        #expect(ids.count >= 4900 - some.count - 1 && store.statistics.total.isBalanced)
    }

    @Test("whatever bytes a page or a log holds, reading it finds true points or none, and ends")
    func anyBytes() async throws {
        try await prepare()
        let store = try await open()
        store.append([
            DataPoint(feed: load, value: String(repeating: "long ", count: 3000), createdAt: time.wall())
        ])
        try await store.flush()
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        try await store.close()
        let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let whole = DamagedPages(path: path, logOnly: false)
        let all = (1...whole.count).flatMap { whole.points(at: $0) }
        #expect(all.contains { $0.value.utf8.count == 15_000 })
        #expect(Set(all.map(\.id)).isSuperset(of: 1002...6000))

        var dice = Dice(state: 7)
        let starts = stride(from: 0, to: data.count, by: 4096).filter { data[$0] == 13 }
        for _ in 0..<5000 {
            let start = try #require(starts.randomElement(using: &dice))
            var page = Array(data[start..<start + 4096])
            for _ in 0..<Int.random(in: 1...40, using: &dice) {
                page[Int.random(in: 0..<4096, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
            }
            page[0] = 13
            let cut = Int.random(in: 0..<8, using: &dice) == 0 ? Int.random(in: 0...4096, using: &dice) : 4096
            let leaf = LeafPage(bytes: Array(page.prefix(cut))) { number in
                number % 3 == 0 ? nil : page
            }
            for row in leaf.points() where row.value != "value \(row.id)" {
                Issue.record("found \(row.value) under \(row.id)")
            }
        }
        let copy = folder.file("fuzzed-wal")
        for _ in 0..<50 {
            var bytes = log
            for _ in 0..<Int.random(in: 1...20, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
            }
            try bytes.prefix(Int.random(in: 0...bytes.count, using: &dice)).write(to: URL(fileURLWithPath: copy))
            _ = LogImage(path: copy, checking: true)
            let pages = DamagedPages(path: folder.file("fuzzed"), logOnly: true)
            for index in 0..<pages.count { _ = pages.points(at: index + 1) }
        }
    }

    @Test("damage that shows only in operation costs no new point, and the store goes on")
    func inOperation() async throws {
        try await prepare()
        let store = try await open()
        try change(path) { data in
            let middle = data.count / 2 / 4096 * 4096
            data.replaceSubrange(middle..<middle + 3 * 4096, with: Data(repeating: 0xa5, count: 3 * 4096))
        }
        for feed in [load, door] {
            var last: Int64?
            while let end = try await store.points(of: feed, beyond: last, limit: 200).last?.id { last = end }
        }
        for number in 0..<50 {
            try await store.durably([time.point(load, "later \(number)")])
        }
        store.append([time.point(load, "new")])
        try await store.salvage()
        try await check(store, atLeast: 4000)
        let later = try await OutboxReader(folder: folder.path).all().filter { $0.point.value.hasPrefix("later") }
        #expect(later.count == 50)
        #expect(store.files.damaged().count == 1)
    }
}

extension OutboxStore {
    /// What `run` does once at its start.
    func verifyForTest() async { await verify() }
}
