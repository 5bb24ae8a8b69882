import Diagnostics
import Foundation
import Recorder
import Samples
import TestKit
import Testing

@Suite("Export", .timeLimit(.minutes(5)))
struct ExportTests {
    let folder = TemporaryDirectory()
    // 2026-05-01T12:00:00Z
    let time = ManualTime(wall: Timestamp(nanoseconds: 1_777_636_800_000_000_000))

    func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// A session of two streams and a mark.
    func record() async throws -> (store: RecorderStore, session: Int64) {
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let id = try await store.startSession(reason: .command)
        store.receive(mixed.one(time.at(0), .real(0.1), .integer(-7), .text("plain"), .flag(true)))
        store.receive(mixed.one(time.at(2), .real(1e300), .missing, .text("say \"hi\", all\nof you"), .flag(false)))
        store.receive(mixed.one(time.at(4), .real(3), .integer(0), .text(""), .missing))
        store.receive(mixed.one(time.at(4), .missing, .missing, .missing, .missing))
        store.receive(accelerometer.one(time.at(1), .real(-9.80665), .real(1.5e-7), .real(100)))
        store.receive(accelerometer.one(time.at(3), .real(0.30000000000000004), .missing, .real(-1)))
        // Not of the session.
        store.receive(accelerometer.one(time.at(-1), .real(1), .real(2), .real(3)), keepOutside: true)
        time.advance(by: .milliseconds(5))
        try await store.mark("é <door>")
        try await store.stopSession(reason: .command)
        return (store, id)
    }

    @Test("CSV is a file a stream, byte for byte")
    func csv() async throws {
        let (store, id) = try await record()
        let report = try await store.makeReader().export(session: id, as: .csv, into: folder.file("a/b"))

        #expect(
            report.files.map { $0.replacingOccurrences(of: folder.file("a/b/"), with: "") } == [
                "accelerometer.csv", "mixed.one.csv", "_marks.csv",
            ]
        )
        #expect(report.samples == [accelerometer.name: 2, mixed.name: 4])
        #expect(
            try text(report.files[0]) == """
                time_ns,x,y,z
                1777636800001000000,-9.80665,1.5e-07,100
                1777636800003000000,0.30000000000000004,,-1

                """
        )
        #expect(
            try text(report.files[1]) == """
                time_ns,real,count,word,flag
                1777636800000000000,0.1,-7,plain,1
                1777636800002000000,1e+300,,"say ""hi"", all
                of you",0
                1777636800004000000,3,0,"",
                1777636800004000000,,,,

                """
        )
        #expect(try text(report.files[2]) == "time_ns,text\n1777636800005000000,é <door>\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b")).count == 3)
    }

    @Test("JSON lines hold all streams in the order of time, byte for byte")
    func jsonLines() async throws {
        let (store, id) = try await record()
        let report = try await store.makeReader().export(session: id, as: .jsonl, into: folder.file("out"))

        #expect(report.files == [folder.file("out/session-\(id).jsonl")])
        #expect(
            try text(report.files[0]) == #"""
                {"stream":"mixed.one","time_ns":1777636800000000000,"real":0.1,"count":-7,"word":"plain","flag":true}
                {"stream":"accelerometer","time_ns":1777636800001000000,"x":-9.80665,"y":1.5e-07,"z":100}
                {"stream":"mixed.one","time_ns":1777636800002000000,"real":1e+300,"count":null,"word":"say \"hi\", all\nof you","flag":false}
                {"stream":"accelerometer","time_ns":1777636800003000000,"x":0.30000000000000004,"y":null,"z":-1}
                {"stream":"mixed.one","time_ns":1777636800004000000,"real":3,"count":0,"word":"","flag":null}
                {"stream":"mixed.one","time_ns":1777636800004000000,"real":null,"count":null,"word":null,"flag":null}
                {"stream":"_marks","time_ns":1777636800005000000,"text":"é <door>"}

                """#
        )
    }

    @Test("other programs read the same values back")
    func foreignReaders() async throws {
        let (store, id) = try await record()
        let reader = store.makeReader()
        _ = try await reader.export(session: id, as: .csv, into: folder.file("out"))
        _ = try await reader.export(session: id, as: .jsonl, into: folder.file("out"))
        let script = """
            import csv, json, sys
            folder = sys.argv[1]
            rows = list(csv.DictReader(open(folder + "/mixed.one.csv", newline="")))
            print(rows[1]["word"] == 'say "hi", all\\nof you', float(rows[1]["real"]) == 1e300, rows[0]["flag"])
            lines = [json.loads(line) for line in open(folder + "/session-\(id).jsonl")]
            print([line["stream"] for line in lines].count("mixed.one"), lines[1]["x"], lines[3]["x"] == 0.1 + 0.2)
            """
        #expect(try shell("python3", "-c", script, folder.file("out")) == "True True 1\n4 -9.80665 True\n")
    }

    @Test("GPX is valid XML with a track a location, and a new segment after a gap")
    func gpx() async throws {
        var settings = RecorderStore.Settings()
        settings.host = "a<b>&\"c\""
        settings.software = "1.0"
        let store = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        let id = try await store.startSession(reason: .command)
        store.receive(location.one(time.at(0), .real(40.4168), .real(-3.7038), .real(657.5)))
        store.receive(location.one(time.at(1000) + 1, .real(0.00001), .real(-0.00000025), .missing))
        store.receive(location.one(time.at(62_000), .real(-90), .real(180), .real(-0.5)))
        store.receive(location.one(time.at(63_000), .real(91), .real(0), .real(0)))
        store.receive(location.one(time.at(64_000), .missing, .real(0), .real(0)))
        try await store.flush()

        let report = try await store.makeReader().export(session: id, as: .gpx, into: folder.file("out"))

        #expect(report.samples == [location.name: 3])
        #expect(
            try text(report.files[0]) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <gpx version="1.1" creator="feedbridge 1.0" xmlns="http://www.topografix.com/GPX/1/1">
                <metadata><name>Session \(id) of a&lt;b&gt;&amp;&quot;c&quot;</name><time>2026-05-01T12:00:00.000Z</time></metadata>
                <trk><name>location</name>
                <trkseg>
                <trkpt lat="40.4168" lon="-3.7038"><ele>657.5</ele><time>2026-05-01T12:00:00.000Z</time></trkpt>
                <trkpt lat="0.000010000000" lon="-0.000000250000"><time>2026-05-01T12:00:01.000000001Z</time></trkpt>
                </trkseg>
                <trkseg>
                <trkpt lat="-90.0" lon="180.0"><ele>-0.5</ele><time>2026-05-01T12:01:02.000Z</time></trkpt>
                </trkseg>
                </trk>
                </gpx>

                """
        )
        let script = """
            import sys, xml.etree.ElementTree as tree
            space = "{http://www.topografix.com/GPX/1/1}"
            root = tree.parse(sys.argv[1]).getroot()
            print(root.tag == space + "gpx", len(root.findall(f".//{space}trkpt")), root.find(f".//{space}name").text)
            """
        #expect(
            try shell("python3", "-c", script, report.files[0]) == "True 3 Session \(id) of a<b>&\"c\"\n"
        )
    }

    @Test("GPX without a place is refused with a sentence, and makes nothing")
    func gpxWithoutPlace() async throws {
        let (store, id) = try await record()
        let error = try await #require(throws: RecorderError.self) {
            _ = try await store.makeReader().export(session: id, as: .gpx, into: folder.file("out"))
        }
        #expect(error.description.contains("no `location` stream"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test("a query writes a range of a stream, from all sessions and the always store", arguments: RowFormat.allCases)
    func query(format: RowFormat) async throws {
        let (store, _) = try await record()
        let path = try folder.write("", to: "query")
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let start = Timestamp(nanoseconds: 1_777_636_799_999_000_000)
        let end = Timestamp(nanoseconds: 1_777_636_800_001_000_000)

        let count = try await store.makeReader().write(
            accelerometer.name,
            from: start,
            to: end,
            as: format,
            to: handle.fileDescriptor
        )

        #expect(count == 2)
        let expected =
            switch format {
            case .csv: "time_ns,x,y,z\n1777636799999000000,1,2,3\n1777636800001000000,-9.80665,1.5e-07,100\n"
            case .jsonl:
                #"{"stream":"accelerometer","time_ns":1777636799999000000,"x":1,"y":2,"z":3}"# + "\n"
                    + #"{"stream":"accelerometer","time_ns":1777636800001000000,"x":-9.80665,"y":1.5e-07,"z":100}"#
                    + "\n"
            }
        #expect(try text(path) == expected)
        await #expect(throws: RecorderError.self) {
            try await store.makeReader().write(name("nothing"), from: start, to: end, as: format, to: 1)
        }
    }

    @Test("a long query and an export come whole, in order, over many pages, while recording goes on")
    func pages() async throws {
        var settings = RecorderStore.Settings()
        settings.bufferBytes = 64 << 20
        let store = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        let id = try await store.startSession(reason: .command)
        let start = time.at(0)
        store.receive(accelerometer.batch((0..<30_000).map { start + Int64($0 / 3) }))
        try await store.flush()
        let path = try folder.write("", to: "query")
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let reader = store.makeReader()

        async let exported = reader.export(session: id, as: .jsonl, into: folder.file("out"))
        async let written = reader.write(
            accelerometer.name,
            from: time.wall(),
            to: Timestamp(nanoseconds: start + 9_999),
            as: .csv,
            to: handle.fileDescriptor
        )
        for step in 0..<100 {
            store.receive(accelerometer.batch([start + 1_000_000 + Int64(step)]))
            try await store.flush()
        }

        #expect(try await written == 30_000)
        #expect(try await exported.samples[accelerometer.name] ?? 0 >= 30_000)
        let times = try text(path).split(separator: "\n").dropFirst().compactMap { Int64($0.prefix { $0 != "," }) }
        #expect(times == (0..<30_000).map { start + Int64($0 / 3) })
    }
}
