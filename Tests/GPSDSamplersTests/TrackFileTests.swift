import Foundation
import ReplaySamplers
import Samples
import TestKit
import Testing

@testable import GPSDSamplers

@Suite("Files of positions")
struct TrackFileTests {

    private func write(_ text: String, _ folder: TemporaryDirectory) throws -> String {
        let path = "\(folder.path)/file"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func places(_ file: TrackFile?) throws -> [Double] {
        var file = try #require(file)
        var found: [Double] = []
        while let batches = try file.next() {
            for batch in batches where batch.stream.name.text == "location" {
                for row in 0..<batch.count { found += batch.value(row: row, field: 0).number.map { [$0] } ?? [] }
            }
        }
        return found
    }

    private static let sentence = "$GPRMC,000231.42,A,4829.0005,N,00022.0016,E,0.16,212.28,220899,,,A*59\n"

    @Test("the content tells the format, and what is read to find out is not lost")
    func findsFormats() throws {
        let folder = TemporaryDirectory()
        let path = try write("# a log\n" + Self.sentence, folder)

        let found = try places(try TrackFile.open(path, format: nil))

        #expect(found.count == 1)
        #expect(abs((found.first ?? 0) - 48.483_341_667) < 1e-8)
    }

    @Test("a file that is longer than what is read at once comes whole and in its order")
    func readsLongFiles() throws {
        let folder = TemporaryDirectory()
        var text = ""
        for number in 0..<5_000 {
            text +=
                "{\"class\":\"TPV\",\"mode\":2,\"time\":\"2020-01-01T00:00:00.\(1_000_000 + number)Z\",\"lat\":\(Double(number) / 100),\"lon\":1}\r\n"
        }
        let path = try write(text, folder)

        let found = try places(try TrackFile.open(path, format: nil))

        #expect(found == (0..<5_000).map { Double($0) / 100 })
    }

    @Test("other files are left to others, and an asked format is taken at its word")
    func leavesOthers() throws {
        let folder = TemporaryDirectory()
        let path = try write("time_ns,ax\n1,2\n", folder)

        #expect(try TrackFile.open(path, format: nil).map { _ in true } == nil)
        #expect(try TrackFile.open(path, format: "csv").map { _ in true } == nil)
        #expect(try places(try TrackFile.open(path, format: "nmea")).isEmpty)
    }

    @Test("a file that is not there is an error with its name")
    func missesFiles() throws {
        let folder = TemporaryDirectory()

        #expect(throws: ReplayError.self) { _ = try TrackFile.open("\(folder.path)/none", format: nil) }
        #expect(throws: ReplayError.self) { _ = try TrackFile.open("\(folder.path)/none", format: "gpx") }
    }
}
