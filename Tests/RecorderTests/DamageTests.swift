import Diagnostics
import Foundation
import Recorder
import Samples
import TestKit
import Testing

@Suite("Damaged recordings", .timeLimit(.minutes(5)))
struct DamageTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    /// Writes a file of 20,000 samples in one session, and closes it.
    func prepare() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        _ = try await store.startSession(reason: .command)
        for part in 0..<4 {
            store.receive(accelerometer.batch((0..<5000).map { time.at(0) + Int64(part * 5000 + $0) }))
            try await store.flush()
        }
        try await store.stopSession(reason: .command)
        try await store.close()
    }

    func change(_ name: String = "recordings.sqlite", _ body: (inout Data) -> Void) throws {
        let url = URL(fileURLWithPath: folder.file(name))
        var data = try Data(contentsOf: url)
        body(&data)
        // In place: a new file would lose the mode.
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }

    var setAside: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("recordings.corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        }
    }

    @Test(
        "a file that is none any more is set aside whole, and recording begins anew",
        arguments: ["text", "header", "zeros", "truncated"]
    )
    func unusable(kind: String) async throws {
        try await prepare()
        try change { data in
            switch kind {
            case "text": data = Data(String(repeating: "no database ", count: 1000).utf8)
            case "header": data.replaceSubrange(0..<100, with: Data(repeating: 0xff, count: 100))
            case "zeros": data.replaceSubrange(0..<data.count, with: Data(count: data.count))
            default: data = data.prefix(6000)
            }
        }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: folder.file("recordings.sqlite")))
        let lines = Guarded<[String]>([])
        let log = Log(program: "test") { line in lines.withLock { $0.append(line) } }

        let store = try await RecorderStore.open(folder: folder.path, time: time, log: log)
        let id = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch([time.at(0)]))
        try await store.flush()

        #expect(try await store.session(id).samples == [accelerometer.name: 1])
        #expect(await store.condition == nil)
        let aside = try setAside
        #expect(aside.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file(aside[0]))) == damaged)
        #expect(lines.withLock { $0.contains { $0.contains("set aside as \(folder.path)/recordings.corrupt-") } })
    }

    @Test("damage that shows only while recording is survived: the session goes on in a new file")
    func damagedWhileRecording() async throws {
        try await prepare()
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let id = try await store.startSession(reason: .schedule)
        let start = time.at(0)
        // The top page of a table that the recorder has not read yet becomes rubbish under the open connection.
        let root = try shell(
            "sqlite3",
            "-readonly",
            store.files.database,
            "SELECT rootpage FROM sqlite_schema WHERE name = 'accelerometer'"
        )
        let page = try #require(Int(root.prefix { $0.isNumber }))
        try change { data in
            data.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xa5, count: 4096))
        }

        time.advance(by: .seconds(1))
        for step in 0..<10 {
            store.receive(accelerometer.batch([time.at(Int64(step))]))
            try? await store.flush()
        }
        try await store.flush()

        let session = try await store.session(id)
        #expect(session.state == .running && session.reason == .schedule && session.start.nanoseconds == start)
        let aside = try setAside
        #expect(aside.count == 1, "\(aside)")
        #expect(try await store.stopSession(reason: .command) == id)
        #expect(try await store.startSession(reason: .command) == id + 1)
        #expect(store.drops.isEmpty)
    }

    @Test("flipped bits in the log lose nothing silently: the log is kept and its samples are put back")
    func damagedLog() async throws {
        try await prepare()
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        time.advance(by: .seconds(1))
        store.receive(accelerometer.batch((0..<1000).map { time.at($0) }), keepOutside: true)
        try await store.flush()
        // What a crash leaves: the file and the log, copied while the recorder runs.
        let copy = TemporaryDirectory()
        for name in ["recordings.sqlite", "recordings.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
        }
        var log = try Data(contentsOf: URL(fileURLWithPath: copy.file("recordings.sqlite-wal")))
        log[log.count / 2] ^= 0x10
        try log.write(to: URL(fileURLWithPath: copy.file("recordings.sqlite-wal")))

        let second = try await RecorderStore.open(folder: copy.path, time: time)
        let samples = try await second.sessions().first?.samples
        #expect(samples == [accelerometer.name: 20_000])
        second.receive(location.batch([1]), keepOutside: true)
        try await second.flush()
        #expect(try await second.makeReader().all(location.name).count == 1)
        let count = try await second.makeReader().all(accelerometer.name).count
        // The damaged page itself is not believed: what stood on it alone is lost.
        #expect(count > 20_700 && count <= 21_000, "\(count)")
        let times = try await second.makeReader().all(accelerometer.name).map(\.time)
        #expect(Set(times).isSubset(of: Set((0..<1000).map { time.at($0) } + (0..<20_000).map { time.at(-1000) + $0 })))
        #expect(second.files.damaged().count == 1)
        let kept = try Data(contentsOf: URL(fileURLWithPath: try #require(second.files.damaged().first) + "-wal"))
        #expect(kept == log)
    }

    @Test("a damaged page is said by a reader, with what to do")
    func readersSay() async throws {
        try await prepare()
        try change { data in
            // From the middle of the samples on.
            let start = data.count / 2 / 4096 * 4096
            data.replaceSubrange(start..<data.count - 4096, with: Data(count: data.count - 4096 - start))
        }

        let reader = RecordingReader(folder: folder.path)
        let error = try await #require(throws: (any Error).self) {
            _ = try await reader.export(session: 1, as: .csv, into: folder.file("out"))
        }
        #expect("\(error)".contains("damaged") && "\(error)".contains(".recover"))
        // Nothing half-written is left behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
    }

    @Test("a file of a newer program is refused and stays")
    func newer() async throws {
        try await prepare()
        _ = try shell("sqlite3", folder.file("recordings.sqlite"), "PRAGMA user_version = 99")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("recordings.sqlite")))

        let error = try await #require(throws: RecorderError.self) {
            _ = try await RecorderStore.open(folder: folder.path, time: time)
        }
        #expect(error.description.contains("schema version 99"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("recordings.sqlite"))) == before)
        #expect(try setAside.isEmpty)
    }
}
