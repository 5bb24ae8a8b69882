internal import DataPoints
internal import Diagnostics
internal import FoundationEssentials
internal import Outbox
internal import SQLite

/// Writes points into an outbox as fast as they are taken, or opens one that is there.
enum OutboxBenchmark {
    struct Misuse: Error, CustomStringConvertible {
        var description: String { "the arguments are write FOLDER POINTS COMMIT full|normal, or open FOLDER" }
    }

    static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("write", 5):
            guard let points = Int(arguments[2]), let commit = Int(arguments[3]), points > 0, commit > 0,
                let durability = SQLiteConnection.Durability(rawValue: arguments[4])
            else { throw Misuse() }
            try await write(arguments[1], points, commit, durability)
        case ("open", 2): try await open(arguments[1])
        default: throw Misuse()
        }
    }

    /// Takes points of ten feeds and has them written after every `commit` of them.
    private static func write(
        _ folder: String,
        _ count: Int,
        _ commit: Int,
        _ durability: SQLiteConnection.Durability
    ) async throws {
        let feeds = (0..<10).compactMap { FeedKey("feed-\($0)") }
        var settings = OutboxSettings()
        settings.durability = durability
        // Room for one commit, and none at which the outbox would write by itself.
        settings.bufferBytes = 1 << 30
        settings.maxBytes = 1 << 40
        let store = try await OutboxStore.open(folder: folder, settings: settings)
        let time = SystemTime()
        let begin = time.boot()
        for start in stride(from: 0, to: count, by: commit) {
            let now = time.wall()
            let end = min(start + commit, count)
            store.append((start..<end).map { DataPoint(feed: feeds[$0 % 10], value: "\($0).25", createdAt: now) })
            try await store.flush()
        }
        let seconds = begin.duration(to: time.boot()).inSeconds
        let stored = store.statistics.total.pending
        try await store.close()
        print(#"{"points":\#(stored),"seconds":\#(seconds),"points_per_s":\#(Int(Double(stored) / seconds))}"#)
    }

    /// Opens an outbox and reads one page of each feed; says how long opening took, and the memory.
    private static func open(_ folder: String) async throws {
        let time = SystemTime()
        let before = resident()
        let begin = time.boot()
        let store = try await OutboxStore.open(folder: folder)
        let seconds = begin.duration(to: time.boot()).inSeconds
        for feed in store.statistics.feeds.keys { _ = try await store.points(of: feed, limit: 100) }
        let after = resident()
        let pending = store.statistics.total.pending
        try await store.close()
        print(#"{"pending":\#(pending),"open_s":\#(seconds),"resident_kb":\#(after),"grown_kb":\#(after - before)}"#)
    }

    private static func resident() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
