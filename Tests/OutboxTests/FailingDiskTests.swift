import DataPoints
import Diagnostics
import Foundation
import Glibc
import Outbox
import TestKit
import Testing

@Suite("A disk that fails", .timeLimit(.minutes(1)))
struct FailingDiskTests {
    let folder = TemporaryDirectory()

    @Test("points wait in memory within its bound, changes are kept, and all is written when the disk works again")
    func recovers() async throws {
        let path = folder.path
        // A limit on the size of files makes writes fail in the kernel; it is a property of a process.
        await #expect(processExitsWith: .success) { [path = path as String] in
            func check(_ condition: Bool, _ line: Int = #line) {
                if !condition {
                    print("line \(line)")
                    exit(1)
                }
            }
            signal(SIGXFSZ, SIG_IGN)
            let time = ManualTime()
            var settings = OutboxSettings()
            settings.bufferBytes = 100_000
            let store = try await OutboxStore.open(folder: path, settings: settings, time: time)
            store.append((0..<100).map { time.point(load, $0) })
            try await store.flush()
            let free = rlim_t(bitPattern: -1)
            var limit = rlimit(rlim_cur: 1, rlim_max: free)
            check(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)

            store.confirm([1, 2])
            for number in 0..<2000 {
                store.append([time.point(door, number)])
                if number % 100 == 0 { try? await store.flush() }
            }
            check(await store.condition.failure != nil)
            let told = await #expect(throws: OutboxError.self) { try await store.markSending([3]) }
            check(told?.isRetriable == true)
            check(store.statistics.total.isBalanced && store.statistics.total.accepted == 2100)

            limit.rlim_cur = free
            check(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try await store.flush()
            try await store.flush()
            check(await store.condition.failure == nil)
            let counts = store.statistics
            let dropped = counts.feeds[door]?.evictedBy[.buffer] ?? 0
            check(counts.total.isBalanced && counts.total.confirmed == 2 && counts.total.buffered == 0)
            check(dropped > 0 && counts.feeds[door]?.pending == 2000 - dropped)
            // The oldest of what came are there, in order.
            let kept = try await OutboxReader(folder: path).all(of: door).compactMap { Int($0.point.value) }
            check(kept == Array(0..<kept.count) && kept.count == 2000 - dropped)
            try await store.markSending([3])
            try await store.close()
            exit(0)
        }
    }
}
