import Foundation
import HealthImport
import Testing

@Suite("Apple Health exports")
struct HealthExportTests {
    private let morning = ("2024-03-30 08:00:00 +0100", "2024-03-30 08:10:00 +0100")
    private let later = ("2024-03-30 08:05:00 +0100", "2024-03-30 08:15:00 +0100")

    @Test(
        "records are taken with their times, units and sources, however the bytes arrive",
        arguments: [7, 64, 100_000]
    )
    func records(size: Int) throws {
        let (from, to) = morning
        let document = makeExport(
            record("12.5", from, to),
            record("0.5", from, to, of: "DistanceWalkingRunning", source: "Ann&#8217;s\u{A0}Watch", unit: "mi"),
            record("70", from, to, of: "BodyMass", unit: "kg"),
            record("61", from, from, of: "HeartRate", unit: "count/min"),
            record("3", from, to, of: "FlightsClimbed")
        )
        var taken: [HealthRecord] = []
        let report = try readExport(document, size: size) { record in taken.append(record) }

        #expect(taken.map(\.quantity) == [.steps, .distance, .heartRate, .floors])
        #expect(taken.map(\.value) == [12.5, 804.672, 61, 3])
        #expect(taken.allSatisfy { $0.start == 1_711_782_000 })
        #expect(taken.map { $0.end - $0.start } == [600, 600, 0, 600])
        #expect(report.sources.map(\.name) == ["Phone", "Ann's Watch"])
        #expect(report.sources.map(\.device) == [.other, .watch])
        #expect(report.others == 1)
        #expect(report.bad == 0)
    }

    @Test("a phone and a watch that count the same steps are not added up, and what only one has is not lost")
    func merged() throws {
        let report = try readExport(
            makeExport(
                record("1000", morning.0, morning.1, source: "iPhone"),
                record("1200", morning.0, later.0, source: "Apple Watch"),
                record("200", "2024-03-30 20:00:00 +0100", "2024-03-30 20:10:00 +0100", source: "Apple Watch")
            ),
            days: FixedDays.spring
        )
        let day = try #require(report.days.first)
        #expect(report.days.count == 1)
        #expect(day.bySource[0]?.steps == 1000)
        #expect(day.bySource[1]?.steps == 1400)
        // The watch for its five minutes, the phone for its last five, the watch alone in the evening.
        #expect(abs((day.merged.steps ?? 0) - (1200 + 500 + 200)) < 1e-9)
    }

    @Test("the order of the sources can be chosen")
    func priority() throws {
        let report = try readExport(
            makeExport(
                record("1000", morning.0, morning.1, source: "iPhone"),
                record("1200", morning.0, morning.1, source: "Apple Watch")
            ),
            days: FixedDays.spring,
            priority: ["iphone"]
        )
        #expect(report.days.first?.merged.steps == 1000)
    }

    @Test("an interval over midnight is split in proportion to time, also in nights of 23 and 25 hours")
    func midnight() throws {
        let spring = try readExport(
            makeExport(record("90", "2024-03-30 23:30:00 +0100", "2024-03-31 01:00:00 +0100")),
            days: FixedDays.spring
        )
        #expect(spring.days.map { $0.merged.steps } == [30, 60])
        let short = try readExport(
            makeExport(record("2300", "2024-03-31 00:00:00 +0100", "2024-04-01 00:00:00 +0200")),
            days: FixedDays.spring
        )
        #expect(short.days.map { $0.merged.steps } == [2300])
        let long = try readExport(
            makeExport(record("2600", "2024-10-26 23:00:00 +0200", "2024-10-28 00:00:00 +0100")),
            days: FixedDays.autumn
        )
        #expect(long.days.map { $0.merged.steps } == [100, 2500])
        #expect(long.days.map { $0.day.description } == ["2024-10-26", "2024-10-27"])
    }

    @Test("a device that is named with another address in each record is one source")
    func addresses() throws {
        let records = (0..<100).map { number in
            record(
                "1",
                morning.0,
                morning.1,
                source: "Ann",
                device: "&lt;&lt;HKDevice: 0xb0f\(number)&gt;, name:iPhone, manufacturer:Apple&gt;"
            )
        }
        let report = try readExport(makeExport(records.joined()))
        #expect(report.sources.map(\.name) == ["Ann"])
        #expect(report.sources.first?.device == .phone)
    }

    @Test("records in a correlation count once")
    func correlations() throws {
        let one = record("5", morning.0, morning.1)
        let report = try readExport(makeExport("<Correlation type=\"x\">\(one)</Correlation>", one))
        #expect(report.records[.steps] == 1)
    }

    @Test("the document type of iOS 16, control characters and blanks in names of attributes do no harm")
    func brokenDocuments() throws {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE HealthData [
            <!ATTLIST Record <broken
              type CDATA #REQUIRED
            <!-- <Record type="HKQuantityTypeIdentifierStepCount" -->
            ]>
            <HealthData locale="en">
             <!-- > <Record/> -->
             <Record type="HKQuantityTypeIdentifierStepCount" source Name="a\u{0B}b" start Date="\(morning.0)" end Date="\(morning.1)" value="7">
              <MetadataEntry key="x" value="&#11;"/>
             </Record>
            </HealthData>
            """
        let report = try readExport(document)
        #expect(report.records == [.steps: 1])
        #expect(report.sources.map(\.name) == ["a b"])
        #expect(report.days.first?.merged.steps == 7)
    }

    @Test("a record that cannot be used is counted and costs only itself")
    func bad() throws {
        let report = try readExport(
            makeExport(
                record("x", morning.0, morning.1),
                record("-5", morning.0, morning.1),
                record("nan", morning.0, morning.1),
                record("1e400", morning.0, morning.1),
                record("5", "yesterday", morning.1),
                record("5", morning.1, morning.0),
                record("5", "2024-13-30 08:00:00 +0100", morning.1),
                record("5", "1999-03-30 08:00:00 +0100", morning.1),
                record("5", morning.0, morning.1, of: "DistanceWalkingRunning", unit: "furlong"),
                record("1e2", morning.0, morning.1)
            )
        )
        #expect(report.bad == 9)
        #expect(!report.example.isEmpty)
        #expect(report.days.first?.merged.steps == 100)
    }

    @Test("what is no export, empty or cut off is said, and what came before the cut was taken")
    func refusals() throws {
        #expect(throws: HealthImportError.notAnExport("export.xml")) { try readExport("<gpx><trk/></gpx>") }
        #expect(throws: HealthImportError.empty("export.xml")) { try readExport("") }
        #expect(throws: HealthImportError.notAnExport("export.xml")) { try readExport("no tags at all") }
        let whole = makeExport(record("5", morning.0, morning.1), record("6", morning.0, morning.1))
        let cut = String(whole.dropLast(40))
        var taken = 0
        let report = try readExport(cut) { _ in taken += 1 }
        #expect(taken == 1)
        #expect(!report.isComplete)
        #expect(report.days.first?.merged.steps == 5)
        #expect(try readExport(whole).isComplete)
    }

    @Test("a tag without an end is refused before it fills the memory")
    func endless() {
        let document = "<HealthData>\n<Record type=\"" + String(repeating: "x", count: 20 << 20)
        #expect(throws: HealthImportError.self) { try readExport(document, size: 1 << 20) }
    }

    @Test("no document brings it down")
    func nonsense() throws {
        var generator = SplitMix(state: 1)
        let whole = Array(
            makeExport(record("5", morning.0, morning.1), "<!-- c --><Correlation>", "</Correlation>").utf8
        )
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: place)
                }
            }
            _ = try? readExport(Data(bytes), days: FixedDays.spring, size: 50)
        }
    }

    @Test("more sources than anybody has are one source")
    func manySources() throws {
        let records = (0..<5000).map { record("1", morning.0, morning.1, source: "s\($0)") }
        let report = try readExport(makeExport(records.joined()))
        #expect(report.sources.count <= 201)
        #expect(report.records[.steps] == 5000)
    }

    @Test("steps on the disk come out in order and complete, whatever the order in")
    func spool() throws {
        var records = ""
        var generator = SplitMix(state: 7)
        for minute in (0..<2000).shuffled(using: &generator) {
            let start = Date(timeIntervalSince1970: Double(1_711_756_800 + minute * 30))
            let text = start.ISO8601Format().replacingOccurrences(of: "T", with: " ")
            records += record("1", text, text)
        }
        let report = try readExport(makeExport(records), days: FixedDays.spring)
        #expect(report.days.map { $0.merged.steps ?? 0 }.reduce(0, +) == 2000)
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
