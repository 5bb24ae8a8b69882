import DataPoints
import Diagnostics
import Foundation
import Outbox
import TestKit
import Testing

@Suite("A crash of the process", .timeLimit(.minutes(1)))
struct CrashTests {
    let folder = TemporaryDirectory()

    @Test("points that were being sent come back as doubtful, all others as they were")
    func inFlight() async throws {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try await OutboxStore.open(folder: path)
            let now = SystemTime().wall()
            store.append((0..<10).map { DataPoint(feed: load, value: "\($0)", createdAt: now) })
            try await store.markSending([1, 2, 3, 4])
            store.confirm([1])
            store.putBack([2])
            store.hold([9])
            try await store.flush()
            kill(getpid(), SIGKILL)
        }

        let store = try await OutboxStore.open(folder: path)

        let doubtful = try await store.points(of: load, in: .doubt)
        #expect(doubtful.map(\.id) == [3, 4] && doubtful.map(\.attempts) == [1, 1])
        #expect(try await store.points(of: load).map(\.id) == [2, 5, 6, 7, 8, 9, 10])
        let counts = store.statistics.total
        #expect(counts.accepted == 10 && counts.confirmed == 1 && counts.pending == 9 && counts.isBalanced)
    }

    @Test("kill -9 at any moment loses no durable point and doubles none", arguments: 1...4)
    func atAnyMoment(round: Int) async throws {
        let path = folder.path
        let journal = folder.file("journal")
        for _ in 0..<2 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, journal = journal as String, round = round as Int] in
                let store = try await OutboxStore.open(folder: path)
                let now = SystemTime().wall()
                let output = open(journal, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                let target = 150 * round + 37
                await withTaskGroup(of: Void.self) { group in
                    for worker in 0..<4 {
                        group.addTask {
                            for number in 0... {
                                let text = "\(getpid())-\(worker)-\(number)"
                                try? await store.durably([DataPoint(feed: load, value: text, createdAt: now)])
                                // One write a line: it is in the file when the process dies.
                                let line = Array("\(text)\n".utf8)
                                write(output, line, line.count)
                                if worker == 0, number == target { kill(getpid(), SIGKILL) }
                            }
                        }
                    }
                }
            }
        }

        let store = try await OutboxStore.open(folder: path)
        let told = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n").map(String.init)
        let found = try await OutboxReader(folder: path).all().map(\.point.value)
        #expect(told.count > 300 * round)
        #expect(Set(told).isSubset(of: Set(found)))
        #expect(Set(found).count == found.count)
        let counts = store.statistics.total
        #expect(counts.isBalanced && counts.pending == found.count)
        try await store.close()
        #expect(try sqlite(folder.file("outbox.sqlite"), "PRAGMA integrity_check") == "ok\n")
    }
}
