import Diagnostics
import Foundation
import Recorder
import SQLite
import Samples
import TestKit
import Testing

@Suite("Stored streams", .timeLimit(.minutes(5)))
struct StreamTableTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    @Test("every kind of value comes back as it was")
    func kinds() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let rows: [[Value]] = [
            [.real(0.1), .integer(.max), .text(""), .flag(true)],
            [.missing, .missing, .missing, .missing],
            [.real(-0.0), .integer(.min), .text("é\"',\n\0x"), .flag(false)],
            [.real(.greatestFiniteMagnitude), .integer(0), .text(" 1.50"), .flag(true)],
        ]
        var batch = SampleBatch(mixed, arrival: BootInstant(nanoseconds: 0))
        for (index, row) in rows.enumerated() { batch.append(time: Timestamp(nanoseconds: Int64(index)), row) }
        // Kinds that do not fit, and numbers that are none, are missing.
        batch.append(time: Timestamp(nanoseconds: 9), [.text("12"), .text("x"), .text("ok"), .text("1")])
        batch.append(time: Timestamp(nanoseconds: 10), [.real(.nan), .integer(1), .text("nan"), .flag(false)])
        store.receive(batch, keepOutside: true)
        try await store.flush()

        let read = try await store.makeReader().all(mixed.name)
        #expect(read.prefix(4).map(\.values) == rows)
        #expect(read[4].values == [.missing, .missing, .text("ok"), .missing])
        #expect(read[5].values.first == .missing)
    }

    @Test("tables and columns have the names of streams and fields, units beside them")
    func names() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let stream = Samples.Stream(
            name("host.network.eth0"),
            fields: [Field(name("received.total"), unit: .bytesPerSecond)]
        )
        store.receive(stream.one(5, .real(1.5)), keepOutside: true)
        try await store.flush()

        #expect(
            try shell(
                "sqlite3",
                store.files.database,
                #"SELECT time_ns, "received.total" FROM "host.network.eth0"; SELECT name, unit, kind FROM _fields"#
            ) == "5|1.5\nreceived.total|B/s|real\n"
        )
    }

    @Test(
        "no name can be mistaken for something of SQL or of ours",
        arguments: [
            "select", "table", "sqlite_master", "sqlite_sequence", "rowid", "oid", "time_ns", "stream", "session",
            "boot",
            "tie", "streams", "sessions", "a.b.c", "index", "null", "x2_x",
        ]
    )
    func oddNames(text: String) async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let stream = Samples.Stream(
            name(text),
            fields: [Field(name(text)), Field(name("rowid"), kind: .integer), Field(name("time_ns"), kind: .text)]
        )
        let id = try await store.startSession(reason: .command)
        store.receive(stream.one(time.at(0), .real(1), .integer(2), .text("three")))
        try await store.flush()

        let page = try await store.makeReader().page(
            of: stream.name,
            from: time.wall(),
            to: time.wall()
        )
        #expect(page.values == [.real(1), .integer(2), .text("three")])
        #expect(page.columns.map(\.field) == stream.fields.map(\.name))
        let report = try await store.makeReader().export(session: id, as: .jsonl, into: folder.file("out"))
        let line = try String(contentsOfFile: report.files[0], encoding: .utf8)
        let keys = page.columns.map(\.name)
        #expect(Set(keys).count == 3 && !keys.contains("time_ns") && !keys.contains("stream"))
        for key in keys { #expect(line.contains("\"\(key)\":")) }

        try await store.stopSession(reason: .command)
        try await store.deleteSession(id)
        #expect(try await store.sessions().isEmpty)
    }

    @Test("a new field is a new column, and old samples miss it")
    func widens() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let old = Samples.Stream(name("s"), fields: [Field(name("a")), Field(name("b"))])
        let new = Samples.Stream(name("s"), fields: [Field(name("c"), unit: .lux), Field(name("a"))])
        for (index, stream) in [old, new, old].enumerated() {
            let values = stream.fields.indices.map { Value.real(Double(index * 10 + $0)) }
            store.receive(
                SampleBatch(
                    stream,
                    arrival: BootInstant(nanoseconds: 0),
                    time: Timestamp(nanoseconds: Int64(index)),
                    values
                ),
                keepOutside: true
            )
        }
        try await store.flush()

        let reader = store.makeReader()
        #expect(try await reader.streams()[0].columns.map(\.name) == ["a", "b", "c"])
        #expect(
            try await reader.all(name("s")).map(\.values) == [
                [.real(0), .real(1), .missing], [.real(11), .missing, .real(10)], [.real(20), .real(21), .missing],
            ]
        )
    }

    @Test("a field whose unit or kind has changed gets a column of its own, and the old values stay")
    func changes() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let metres = Samples.Stream(name("s"), fields: [Field(name("a"), unit: .metres)])
        let word = Samples.Stream(name("s"), fields: [Field(name("a"), unit: .metres, kind: .text)])
        store.receive(metres.one(1, .real(5)), keepOutside: true)
        store.receive(word.one(2, .text("7.0")), keepOutside: true)
        store.receive(metres.one(3, .real(6)), keepOutside: true)
        try await store.flush()

        let reader = store.makeReader()
        let columns = try await reader.streams()[0].columns
        #expect(columns.map(\.name) == ["a", "_2_a"] && columns.map(\.kind) == [.real, .text])
        #expect(
            try await reader.all(name("s")).map(\.values) == [
                [.real(5), .missing], [.missing, .text("7.0")], [.real(6), .missing],
            ]
        )
    }

    @Test("many samples with one time are all kept, with that time")
    func ties() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let times = [Int64](repeating: 100, count: 500) + [101, 100, 102] + [Int64](repeating: .max, count: 3)
        store.receive(accelerometer.batch(times), keepOutside: true)
        try await store.flush()

        let reader = store.makeReader()
        let read = try await reader.all(accelerometer.name, limit: 7)
        #expect(read.map(\.time).sorted() == times.sorted())
        #expect(Set(read.map { $0.values[0] }).count == times.count)
        let page = try await reader.page(
            of: accelerometer.name,
            from: Timestamp(nanoseconds: 101),
            to: Timestamp(nanoseconds: 101)
        )
        #expect(page.times.count == 1 && page.values == [.real(500), .real(500), .real(500)])
    }

    @Test("256 streams are recorded, the 257th is refused and counted, and deleting makes room")
    func limit() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let id = try await store.startSession(reason: .command)
        for number in 0..<257 {
            let stream = Samples.Stream(name("s\(number)"), fields: [Field(name("v"))])
            store.receive(stream.one(time.at(0), .real(Double(number))))
        }
        try await store.flush()

        #expect(try await store.session(id).samples.count == 256)
        #expect(store.drops == [name("s256"): 1])
        let extra = Samples.Stream(name("extra"), fields: [Field(name("v"))])
        await #expect(throws: RecorderError.self) { try await store.durably(extra.one(1, .real(1))) }

        let report = try await store.makeReader().export(session: id, as: .jsonl, into: folder.file("out"))
        #expect(report.samples.count == 256)
        try await store.stopSession(reason: .command)
        try await store.deleteSession(id)
        try await store.durably(extra.one(1, .real(1)))
        #expect(try await store.makeReader().streams().map(\.name) == [name("extra")])
    }

    @Test("a stream with too many columns over time is refused alone")
    func tooManyColumns() async throws {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        for version in 0..<5 {
            let stream = Samples.Stream(
                name("s"),
                fields: (0..<64).map { Field(name("v\(version)_\($0)")) }
            )
            store.receive(stream.batch([Int64(version)]), keepOutside: true)
        }
        store.receive(accelerometer.batch([1]), keepOutside: true)
        try await store.flush()

        #expect(store.drops == [name("s"): 1])
        #expect(try await store.makeReader().all(name("s")).count == 4)
        #expect(try await store.makeReader().all(accelerometer.name).count == 1)
    }
}
