import DataPoints
import Diagnostics
import Foundation
import Outbox
import SQLite
import TestKit
import Testing

@Suite("A million points", .timeLimit(.minutes(5)))
struct ScaleTests {
    let folder = TemporaryDirectory()

    /// Resident memory in kB.
    static func resident() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    @Test("wait on the disk and not in memory: writing, opening and reading them takes a few megabytes")
    func flat() async throws {
        let path = folder.path
        // In a process of its own: memory of other tests does not count.
        await #expect(processExitsWith: .success) { [path = path as String] in
            func fail(_ text: String) -> Never {
                print(text)
                exit(1)
            }
            var settings = OutboxSettings()
            settings.durability = .normal
            var store = try await OutboxStore.open(folder: path, settings: settings)
            let now = SystemTime().wall()
            let feeds = (0..<10).map { feed("feed-\($0)") }
            var early = 0
            for group in 0..<2000 {
                store.append((0..<500).map { DataPoint(feed: feeds[$0 % 10], value: "\(group).\($0)", createdAt: now) })
                try await store.flush()
                if group == 200 { early = ScaleTests.resident() }
            }
            let late = ScaleTests.resident()
            if late - early > 5000 { fail("writing grew by \(late - early) kB") }
            try await store.close()

            let before = ScaleTests.resident()
            let clock = ContinuousClock()
            let taken = try await clock.measure { store = try await OutboxStore.open(folder: path, settings: settings) }
            guard store.statistics.total.pending == 1_000_000 else { fail("\(store.statistics.total)") }
            var count = 0
            for feed in feeds {
                var last: Int64?
                while true {
                    let page = try await store.points(of: feed, beyond: last, limit: 500)
                    guard let end = page.last else { break }
                    count += page.count
                    last = end.id
                }
            }
            let after = ScaleTests.resident()
            print("opening took \(taken); memory \(before) kB before, \(after) kB after reading \(count) points")
            if count != 1_000_000 { fail("read \(count)") }
            if after - before > 5000 { fail("opening and reading took \(after - before) kB") }
            exit(0)
        }
    }
}
