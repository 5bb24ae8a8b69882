import Foundation
import HealthImport
import TestKit
import Testing

/// A real export, and zips that Python makes of it: not our own.
@Suite("Real Apple Health exports", .enabled(if: Recordings.isAvailable), .timeLimit(.minutes(5)))
struct HealthRecordingTests {
    private let directory = TemporaryDirectory()

    private func readFile(_ path: String, limit: UInt64 = 1 << 30) throws -> (HealthReport, [HealthRecord]) {
        let file = try HealthExportFile(path, limit: limit)
        let export = try HealthExport(path, calendar: London(), read: file.read)
        var records: [HealthRecord] = []
        var found: [HealthRecord] = []
        while try export.next(&found) { records += found }
        let report = try export.report()
        return (report, records)
    }

    /// British summer time, in which the recording was made.
    private struct London: LocalDays {
        func day(of seconds: Int64) -> (day: LocalDay, span: Range<Int64>) {
            let start = (seconds + 3600) / 86_400 * 86_400 - 3600
            let parts = Calendar(identifier: .gregorian).dateComponents(
                in: TimeZone(secondsFromGMT: 3600) ?? .gmt,
                from: Date(timeIntervalSince1970: Double(seconds))
            )
            let day = LocalDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
            return (day, start..<start + 86_400)
        }
    }

    /// The rows of a table that another program made of the same export: start, end, value.
    private func table(_ name: String) throws -> [[String]] {
        try Recordings.text(name).split(whereSeparator: \.isNewline).dropFirst().map { line in
            Array(line.split(separator: ",", omittingEmptySubsequences: false).suffix(3).map(String.init))
        }
    }

    @Test("steps and distances are those that another reader found", arguments: HealthQuantity.allCases.prefix(2))
    func sameAsOthers(quantity: HealthQuantity) throws {
        let (_, records) = try readFile(try Recordings.path("health/export6s3sample.xml"))
        let name = quantity == .steps ? "StepCount" : "DistanceWalkingRunning"
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "yyyy-MM-dd HH:mm:ss Z"
        let expected = try table("health/expected_\(name).csv").map { row in
            "\(Int64(format.date(from: row[0])?.timeIntervalSince1970 ?? 0)) \(Int64(format.date(from: row[1])?.timeIntervalSince1970 ?? 0)) \((Double(row[2]) ?? 0) * (quantity == .steps ? 1 : 1000))"
        }
        let found = records.filter { $0.quantity == quantity }.map { "\($0.start) \($0.end) \($0.value)" }
        #expect(!expected.isEmpty)
        #expect(found == expected)
    }

    @Test("all steps of the recorded day are there")
    func day() throws {
        let (report, _) = try readFile(try Recordings.path("health/export6s3sample.xml"))
        let day = try #require(report.days.first { $0.day == LocalDay(year: 2014, month: 9, day: 13) })
        #expect(day.merged.steps == 2517)
        #expect(report.sources.first?.name == "Health")
        #expect(report.bad == 0)
    }

    private func zip(_ script: String) throws -> String {
        let path = directory.file("export.zip")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-c",
            "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n\(script)\nz.close()",
            path,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    @Test("the zip of a phone is read as it is, also when its language is another one")
    func zipped() throws {
        let recording = try Recordings.path("health/export6s3sample.xml")
        for name in ["export.xml", "exportación.xml"] {
            let path = try zip(
                """
                z.writestr('apple_health_export/export_cda.xml', '<ClinicalDocument/>' * 100000)
                z.write('\(recording)', 'apple_health_export/\(name)')
                z.writestr('apple_health_export/electrocardiograms/a.csv', 'a,b')
                """
            )
            #expect(try readFile(path).0.records[.steps] == 10)
        }
    }

    @Test("a zip may unfold only so far, and one without an export is refused")
    func limits() throws {
        let bomb = try zip("z.writestr('export.xml', '<HealthData>' + ' ' * 3000000)")
        let error = try #require(throws: (any Error).self) { try readFile(bomb, limit: 1_000_000) }
        #expect("\(error)".contains("unfolds to more than the 1000000 bytes"))
        let empty = try zip("z.writestr('a.txt', 'x')")
        #expect(throws: HealthImportError.noExportInside(empty)) { try readFile(empty) }
    }

    @Test("a zip with a wrong checksum or that is cut off is refused")
    func damaged() throws {
        let recording = try Recordings.path("health/export6s3sample.xml")
        let path = try zip("z.write('\(recording)', 'export.xml')")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 3] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(throws: (any Error).self) { try readFile(path) }
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: (any Error).self) { try readFile(path) }
        #expect("\(error)".contains("no zip file, or a damaged one"))
    }
}
