import Glibc
import Samples

@testable import HealthImport
@testable import Outbox
@testable import ReplaySamplers
@testable import Simulator
@testable import XML

extension FuzzTarget {
    /// A file to replay, plain or packed.
    static let csv = FuzzTarget(
        "csv",
        texts: [
            "time_ns,x,y\n1,2,3\n2,,\"4\"\n", "time_s,ok\n1.5,true\n# comment\n2,false\nbroken\n",
            "time,text\n2026-01-01T00:00:00Z,a\n", "time_ms,a [g]\n99999999999999999999,1e400\n",
        ]
    ) { text in
        withFile(Array(text.utf8)) { path in
            guard let found = try? FieldFinder(path, stream: Name(mapping: "test")),
                var rows = try? RowReader(path, layout: found.layout, fields: found.fields)
            else { return }
            while let chunk = try? rows.next(16) {
                precondition(chunk.values.count == chunk.times.count * found.fields.count)
                if chunk.isLast { break }
            }
        }
    }

    /// Pages of a damaged outbox, one by one.
    static let outboxPages = FuzzTarget("outbox-pages", seeds: [page]) { bytes in
        let whole = bytes + [UInt8](repeating: 0, count: max(0, 512 - bytes.count))
        _ = LeafPage(bytes: whole, overflow: { $0 == 2 ? bytes : nil }).points()
    }

    /// A damaged outbox as a file.
    static let outboxFile = FuzzTarget("outbox-file", seeds: [header + page]) { bytes in
        withFile(bytes) { path in
            let pages = DamagedPages(path: path, logOnly: false)
            guard pages.count > 0 else { return }
            for index in 1...min(pages.count, 16) { _ = pages.points(at: index) }
        }
    }

    /// A damaged log of the outbox.
    static let outboxLog = FuzzTarget(
        "outbox-log",
        seeds: [
            [0x37, 0x7F, 0x06, 0x82, 0, 0x2D, 0xE2, 0x18, 0, 0, 0x10, 0] + [UInt8](repeating: 0, count: 20 + 24) + page
        ]
    ) { bytes in
        withFile(bytes) { path in
            guard let image = LogImage(path: path, checking: true) else { return }
            precondition(image.offsets.values.allSatisfy { $0 >= 0 && $0 <= bytes.count })
            _ = LogImage(path: path, checking: false)
        }
    }

    private static let header = Array("SQLite format 3\0".utf8) + [16, 0, 1, 1] + [UInt8](repeating: 0, count: 4076)

    /// A leaf with one cell that is no point: the sum at its end is wrong.
    private static let page: [UInt8] =
        [13, 0, 0, 0, 1, 15, 0, 0, 15, 200] + [UInt8](repeating: 0, count: 4038)
        + [40, 1, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 17, 19, 21] + [UInt8](repeating: 65, count: 31)

    /// An export of Apple Health.
    static let healthExport = FuzzTarget(
        "health-export",
        texts: [
            """
            <?xml version="1.0"?><!DOCTYPE HealthData [<!ELEMENT HealthData (Record)>]><HealthData>
            <Record type="HKQuantityTypeIdentifierStepCount" sourceName="A &amp; B" device="&lt;&lt;HKDevice: 0x1&gt;, \
            name:Apple Watch&gt;" unit="count" startDate="2026-01-01 10:00:00 +0100" endDate="2026-01-01 10:01:00 +0100" \
            value="12"/><!-- x --><Workout a='1'></Workout></HealthData>
            """
        ]
    ) { text in
        var bytes = Array(text.utf8)[...]
        let calendar = SystemDays()
        _ = try? HealthExport(calendar: calendar).read(
            "fuzz",
            from: { memory in
                let piece = bytes.prefix(min(memory.count, 97))
                memory.copyBytes(from: piece)
                bytes = bytes.dropFirst(piece.count)
                return piece.count
            },
            records: { _, _ in }
        )
    }

    /// XML of any origin.
    static let xml = FuzzTarget(
        "xml",
        texts: ["<a b='1'><c>x&amp;y</c></a>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"]
    ) {
        text in
        let handler = Handler()
        let parser = XMLParser(handler)
        var text = text
        text.withUTF8 { bytes in try? parser.parse(UnsafeRawBufferPointer(bytes), isLast: true) }
    }

    /// A time zone's file.
    static let zoneFile = FuzzTarget(
        "zone-file",
        seeds: [file("/usr/share/zoneinfo/Europe/Madrid"), file("/usr/share/zoneinfo/UTC")]
    ) { bytes in
        guard let zone = ZoneInfo(bytes: bytes) else { return }
        for second in [Int64.min, -1, 0, 1_800_000_000, Int64.max] { _ = zone.period(at: second) }
    }

    private final class Handler: XMLHandler {
        private var bytes = 0

        func begin(_ element: XMLElement) {
            element.forEachAttribute { _, value in bytes &+= value.string.utf8.count }
        }

        func end(_ name: XMLText) {}
        func characters(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes &+= bytes.count }
    }

    private static func file(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        return Array(bytes.prefix(fread(&bytes, 1, bytes.count, file)))
    }

    /// A file in memory with these bytes.
    private static func withFile(_ bytes: [UInt8], _ body: (String) -> Void) {
        let path = "/dev/shm/feedbridge-fuzz-\(getpid())"
        guard let file = fopen(path, "w") else { preconditionFailure("cannot write \(path)") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        defer { unlink(path) }
        body(path)
    }
}
