import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import Recorder

@Suite("Putting back what a damaged file of recordings holds", .timeLimit(.minutes(5)))
struct SalvageTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()
    var path: String { folder.file("recordings.sqlite") }

    /// Of the same form as the accelerometer's: only its table tells its samples apart.
    let gyroscope = Samples.Stream(name("gyroscope"), fields: ["x", "y", "z"].map { Field(name($0)) })

    static let words = Samples.Stream(
        Name(mapping: "words"),
        fields: [
            Field(Name(mapping: "word"), kind: .text), Field(Name(mapping: "count"), kind: .integer),
            Field(Name(mapping: "flag"), kind: .flag), Field(Name(mapping: "level"), unit: .hectopascals),
        ]
    )

    func open(_ log: Log = .silent) async throws -> RecorderStore {
        try await RecorderStore.open(folder: folder.path, time: time, log: log)
    }

    /// Two sessions with 20,000 samples of two streams of the same form, texts beside them, a mark, and the always store.
    func prepare() async throws {
        let store = try await open()
        for session in 0..<2 {
            _ = try await store.startSession(reason: session == 0 ? .dashboard : .command)
            try await store.mark("mark \(session)")
            for part in 0..<2 {
                let times = (0..<5000).map { time.at(0) + Int64(part * 5000 + $0) }
                store.receive(accelerometer.batch(times))
                store.receive(gyroscope.batch(times))
                try await store.flush()
            }
            var texts = SampleBatch(Self.words, arrival: time.boot())
            for number in 0..<100 {
                texts.append(
                    time: time.wall() + .nanoseconds(number),
                    [
                        .text(String(repeating: "w\(number) ", count: 50)), .integer(Int64(number)), .flag(true),
                        .real(2),
                    ]
                )
            }
            // A value that goes on over several pages.
            texts.append(
                time: time.wall() + .seconds(1),
                [.text(String(repeating: "long ", count: 5000)), .missing, .missing, .missing]
            )
            store.receive(texts)
            time.advance(by: .seconds(1))
            try await store.stopSession(reason: .limit)
            time.advance(by: .seconds(1))
        }
        store.receive(accelerometer.batch((0..<10).map { time.at($0) }), keepOutside: true)
        try await store.flush()
        try await store.close()
    }

    struct Content: Equatable {
        var sessions: [Session]
        var accelerometer: [Int64]
        var gyroscope: [Int64]
        var marks: [String]
        var text: String
    }

    func content() async throws -> Content {
        let reader = RecordingReader(folder: folder.path)
        let id = try await reader.sessions().first?.id ?? 0
        let out = folder.file("out")
        let files = try await reader.export(session: id, as: .csv, into: out).files
        let text = try files.filter { $0.contains("words") }.map { try String(contentsOfFile: $0, encoding: .utf8) }
            .joined()
        try? FileManager.default.removeItem(atPath: out)
        return Content(
            sessions: try await reader.sessions(),
            accelerometer: try await reader.all(accelerometer.name).map(\.time),
            gyroscope: try await reader.all(gyroscope.name).map(\.time),
            marks: try await reader.marks(ofSession: id).map(\.text),
            text: text
        )
    }

    func change(_ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&data)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }

    @Test("a file whose header or first page is gone comes back whole", arguments: [100, 4096])
    func firstPage(bytes: Int) async throws {
        try await prepare()
        let before = try await content()
        #expect(before.accelerometer.count == 20_010 && before.text.count > 25_000 && before.sessions.count == 2)
        try change { $0.replaceSubrange(0..<bytes, with: Data(repeating: 0, count: bytes)) }

        let store = try await open()
        #expect(await store.isSalvaging)
        // At once, before anything was put back.
        let id = try await store.startSession(reason: .command)
        try await store.salvage()
        try await store.stopSession(reason: .command)

        #expect(id == 3)
        var after = try await content()
        after.sessions.removeAll { $0.id == id }
        #expect(after == before)
        #expect(await store.salvaged == 40_212)
        #expect(await !store.isSalvaging)
        try await store.close()
        // Once put back, never again: what is deleted now stays so.
        let again = try await open()
        try await again.deleteSession(1)
        try await again.close()
        let third = try await open()
        try await third.salvage()
        #expect(try await third.sessions().map(\.id) == [2, 3])
        #expect(third.files.damaged().count == 1)
    }

    @Test("damaged pages cost what stood on them, and nothing else", arguments: ["middle", "half"])
    func pages(kind: String) async throws {
        try await prepare()
        let before = try await content()
        try change { data in
            let middle = data.count / 2 / 4096 * 4096
            if kind == "half" {
                data = data.prefix(data.count / 2)
            } else {
                data.replaceSubrange(middle..<middle + 3 * 4096, with: Data(repeating: 0xa5, count: 3 * 4096))
            }
        }
        let lines = Guarded<[String]>([])
        let store = try await open(Log(program: "test") { line in lines.withLock { $0.append(line) } })
        await store.verify()

        try await store.salvage()

        let after = try await content()
        #expect(store.files.damaged().count == 1)
        #expect(Set(after.accelerometer).isSubset(of: before.accelerometer))
        #expect(Set(after.gyroscope).isSubset(of: before.gyroscope))
        #expect(after.sessions.map(\.id) == [1, 2] && after.sessions.map(\.start) == before.sessions.map(\.start))
        let lost = 40_020 - after.accelerometer.count - after.gyroscope.count
        // About 120 rows stand on a page.
        #expect(lost > 0 && lost < (kind == "half" ? 25_000 : 600), "\(lost)")
        #expect(lines.withLock { $0.contains { $0.contains("could not be read") } })
        let counted = after.sessions.reduce(0) { $0 + ($1.samples[accelerometer.name] ?? 0) }
        #expect(counted == after.accelerometer.filter { $0 < time.at(0) }.count)
    }

    @Test("damage in the midst of a session: what it had comes back, under its own number")
    func running() async throws {
        try await prepare()
        let store = try await open()
        let id = try await store.startSession(reason: .schedule)
        store.receive(gyroscope.batch((0..<1000).map { time.at(0) + Int64($0) }))
        try await store.flush()
        let root = try shell(
            "sqlite3",
            "-readonly",
            path,
            "SELECT rootpage FROM sqlite_schema WHERE name = 'accelerometer'"
        )
        let page = try #require(Int(root.prefix { $0.isNumber }))
        try change { data in
            data.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xa5, count: 4096))
        }

        for step in 0..<10 {
            store.receive(accelerometer.batch([time.at(10 + Int64(step))]))
            try? await store.flush()
        }
        try await store.flush()
        try await store.salvage()

        let session = try await store.session(id)
        #expect(session.state == .running && session.samples == [gyroscope.name: 1000, accelerometer.name: 10])
        #expect(try await store.sessions().map(\.id) == [1, 2, id])
        #expect(
            try await store.session(1).samples == [
                gyroscope.name: 10_000, accelerometer.name: 10_000, Self.words.name: 101,
            ]
        )
        #expect(try await store.stopSession(reason: .command) == id)
    }

    @Test("a salvage that was cut short goes on, and puts nothing back twice")
    func resumes() async throws {
        try await prepare()
        let before = try await content()
        try change { $0.replaceSubrange(0..<100, with: Data(repeating: 0xff, count: 100)) }
        var store = try await open()
        let salvaging = Task { [store] in try await store.salvage() }
        while await store.salvaged < 5000 { await Task.yield() }
        try await store.close()
        #expect(await salvaging.result.failed)

        store = try await open()
        #expect(await store.isSalvaging)
        try await store.salvage()

        #expect(try await content() == before)
    }

    @Test("whatever bytes the file and its log hold, looking at them ends")
    func anyBytes() async throws {
        let store = try await open()
        _ = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch((0..<3000).map { time.at($0) }))
        try await store.flush()
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        try await store.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let copy = folder.file("fuzzed")
        var dice = Dice(state: 11)
        for round in 0..<120 {
            func spoiled(_ data: Data) -> Data {
                var bytes = data
                for _ in 0..<Int.random(in: 1...60, using: &dice) {
                    guard !bytes.isEmpty else { break }
                    bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: .min ... .max, using: &dice)
                }
                return bytes.prefix(Int.random(in: 0...bytes.count, using: &dice))
            }
            try spoiled(round % 2 == 0 ? whole : file).write(to: URL(fileURLWithPath: copy))
            try (round % 2 == 0 ? Data() : spoiled(log)).write(to: URL(fileURLWithPath: copy + "-wal"))
            for extent in [DamagedRecording.Extent.log, .all] {
                guard let found = DamagedRecording(path: copy, extent) else { continue }
                _ = found.samples(0..<found.pages.count)
            }
        }
    }
}

extension Result {
    fileprivate var failed: Bool { if case .failure = self { true } else { false } }
}

/// A generator that gives the same numbers for the same seed.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
