import Diagnostics
import Foundation
import Recorder
import SQLite
import Samples
import TestKit
import Testing

@Suite("A crash", .timeLimit(.minutes(5)))
struct CrashTests {
    let folder = TemporaryDirectory()

    @Test("kill -9 leaves what was committed readable, and the session is marked as interrupted")
    func killed() async throws {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try await RecorderStore.open(folder: path)
            _ = try await store.startSession(reason: .dashboard)
            let start = SystemTime().wall().nanoseconds
            for row in 0..<5000 {
                store.receive(accelerometer.batch([start + Int64(row)]))
                if row == 3999 { try await store.flush() }
            }
            kill(getpid(), SIGKILL)
        }

        let reader = RecordingReader(folder: path)
        let seen = try #require(try await reader.sessions().first)
        #expect(seen.state == .interrupted)
        let store = try await RecorderStore.open(folder: path)
        let session = try await store.session(seen.id)
        let samples = try await reader.all(accelerometer.name)
        #expect(samples.count == 4000 && session.samples == [accelerometer.name: 4000])
        #expect(session.state == .interrupted && session.reason == .dashboard)
        #expect(session.end?.nanoseconds == samples.last?.time)
        // Recording goes on in the same file.
        #expect(try await store.startSession(reason: .command) == session.id + 1)
    }

    @Test("kill -9 at any moment of a recording loses at most what was not committed")
    func killedWhileWriting() async throws {
        let path = folder.path
        for round in 1...3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                let store = try await RecorderStore.open(folder: path)
                _ = try await store.startSession(reason: .command)
                // The killer is a thread of its own: it strikes in the midst of commits.
                let writer = Task.detached {
                    while true {
                        let now = SystemTime().wall().nanoseconds
                        store.receive(accelerometer.batch((0..<100).map { now + Int64($0) }))
                        try await store.flush()
                    }
                }
                try await store.flush()
                let target = 2000 * round
                while try await store.sessions().last?.samples[accelerometer.name] ?? 0 < target { await Task.yield() }
                kill(getpid(), SIGKILL)
                _ = await writer.result
            }
        }

        let store = try await RecorderStore.open(folder: path)
        let sessions = try await store.sessions()
        #expect(sessions.map(\.state) == [.interrupted, .interrupted, .interrupted])
        for (index, session) in sessions.enumerated() {
            let counted = session.samples[accelerometer.name] ?? 0
            let rows = try value(
                store.files.database,
                "SELECT count(*) FROM accelerometer WHERE _session = \(session.id)"
            )
            #expect(counted >= 2000 * (index + 1) && rows == .integer(Int64(counted)))
        }
        #expect(try shell("sqlite3", store.files.database, "PRAGMA integrity_check") == "ok\n")
    }
}
