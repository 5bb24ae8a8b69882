import Diagnostics
import Foundation
import Recorder
import Samples
import TestKit
import Testing

@Suite("Removal", .timeLimit(.minutes(5)))
struct RemovalTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    @Test("the always store keeps seven days, sessions stay")
    func retention() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let day: Int64 = 86_400_000_000_000
        let begin = time.at(0)
        store.receive(accelerometer.batch([begin - 1, begin - 1, begin - day]), keepOutside: true)
        let id = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch([begin, begin + 1]), keepOutside: true)
        time.advance(by: .seconds(1))
        try await store.stopSession(reason: .command)
        time.advance(by: .seconds(3 * 86_400))
        store.receive(accelerometer.batch([time.at(0)]), keepOutside: true)

        try await store.flush()
        try await store.expire()
        #expect(try await store.makeReader().all(accelerometer.name).count == 6)

        time.advance(by: .seconds(4 * 86_400))
        try await store.expire()
        let times = try await store.makeReader().all(accelerometer.name).map(\.time)
        #expect(times == [begin, begin + 1, begin + 1_000_000_000 + 3 * day])
        #expect(try await store.session(id).samples == [accelerometer.name: 2])

        time.advance(by: .seconds(8 * 86_400))
        try await store.expire()
        #expect(try await store.makeReader().all(accelerometer.name).count == 2)
    }

    @Test("expiry reaches every old sample, whatever lies between, in any number of steps")
    func retentionInSteps() async throws {
        var settings = RecorderStore.Settings()
        settings.keepOutside = .seconds(1)
        settings.bufferBytes = 64 << 20
        let store = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        let begin = time.at(0)
        for batch in 0..<12 {
            store.receive(
                accelerometer.batch((0..<1000).map { begin + Int64(batch * 1000 + $0) }),
                keepOutside: true
            )
        }
        try await store.flush()
        time.advance(by: .seconds(2))
        try await store.expire()
        #expect(try await store.makeReader().streams().isEmpty)
    }

    @Test("a deleted session is gone with its marks, its neighbours stay, and the disk has its space back")
    func deletes() async throws {
        var settings = RecorderStore.Settings()
        settings.bufferBytes = 64 << 20
        let store = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        var ids: [Int64] = []
        for count in [10, 30_000, 10] {
            ids.append(try await store.startSession(reason: .command))
            let start = time.at(0)
            store.receive(accelerometer.batch((0..<count).map { start + Int64($0) * 1000 }))
            try await store.mark("here")
            time.advance(by: .seconds(1))
            try await store.stopSession(reason: .command)
            time.advance(by: .seconds(1))
        }
        let before = store.files.usedBytes()

        try await store.deleteSession(ids[1])

        let sessions = try await store.sessions()
        #expect(sessions.map(\.id) == [ids[0], ids[2]])
        #expect(sessions.map { $0.samples[accelerometer.name] } == [10, 10])
        let reader = store.makeReader()
        #expect(try await reader.marks(ofSession: ids[1]).isEmpty)
        #expect(try await reader.all(accelerometer.name).count == 20)
        #expect(store.files.usedBytes() < before / 4)
        let error = try await #require(throws: RecorderError.self) { try await store.deleteSession(ids[1]) }
        #expect(error.description.contains("There is no session \(ids[1])"))
    }

    @Test("a session that runs is not deleted, and recording goes on during a delete")
    func running() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let first = try await store.startSession(reason: .command)
        let start = time.at(0)
        for part in 0..<20 {
            store.receive(accelerometer.batch((0..<1000).map { start + Int64(part * 1000 + $0) }))
            try await store.flush()
        }
        time.advance(by: .seconds(1))
        try await store.stopSession(reason: .command)
        let second = try await store.startSession(reason: .command)
        await #expect(throws: RecorderError.self) { try await store.deleteSession(second) }

        async let deleted: Void = store.deleteSession(first)
        for step in 0..<50 {
            store.receive(accelerometer.batch([time.at(Int64(step))]))
            try await store.flush()
        }
        try await deleted

        let sessions = try await store.sessions()
        #expect(sessions.map(\.id) == [second] && sessions[0].samples == [accelerometer.name: 50])
    }
}
