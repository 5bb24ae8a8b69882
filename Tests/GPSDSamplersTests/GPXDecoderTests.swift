import Diagnostics
import Samples
import TestKit
import Testing

@testable import GPSDSamplers

@Suite("GPX documents", .enabled(if: Recordings.isAvailable))
struct GPXDecoderTests {
    private func locations(_ name: String) throws -> (segments: Int, points: [TrackSample]) {
        let samples = GPXDecoder().decode(try Recordings.bytes("gpx/\(name)"), isLast: true)
            .filter { $0.stream.name.text == "location" }
        let points = samples.filter { $0.values[0] != .missing }
        return (samples.count - points.count, points)
    }

    @Test(
        "there are as many track points as gpxpy found",
        arguments: [
            ("korita-zbevnica.gpx", 871), ("track-with-empty-segment.gpx", 9), ("track-with-extremes.gpx", 25),
            ("track-with-less-sec-time.gpx", 2), ("unicode_with_bom.gpx", 0), ("gpx1.1_with_all_fields.gpx", 1),
            ("gpx_with_garmin_extension.gpx", 0),
        ]
    )
    func countsPoints(_ name: String, _ count: Int) throws {
        #expect(try locations(name).points.count == count)
    }

    @Test("offsets of time and fractions of the second are kept")
    func readsTimes() throws {
        let points = try locations("track-with-less-sec-time.gpx").points

        #expect(points.map(\.time.description) == ["2015-12-11T14:43:13.000Z", "2015-12-11T14:43:13.994Z"])
        #expect(points[0].values[2] == .real(23.5536))
    }

    @Test("each segment with points begins with a break, an empty one gives nothing")
    func breaksSegments() throws {
        #expect(try locations("korita-zbevnica.gpx").segments == 3)
        #expect(try locations("track-with-empty-segment.gpx").segments == 1)
    }

    @Test("points without a time get rising ones, and no leg is faster than 10 m/s")
    func guessesTimes() throws {
        let points = try locations("track-with-extremes.gpx").points

        for (before, after) in zip(points, points.dropFirst()) { #expect(before.time < after.time) }
        #expect(points.first?.time.description == "2011-07-05T04:11:41.000Z")
    }

    @Test("a document that stops in the middle keeps what came before")
    func keepsBeginning() throws {
        let bytes = try Recordings.bytes("gpx/track-with-empty-segment.gpx")
        let decoder = GPXDecoder()

        let found = decoder.decode(Array(bytes.prefix(1_500)), isLast: true)

        #expect(!found.isEmpty)
        #expect(decoder.rejected == 1)
        #expect(decoder.decode(Array(bytes), isLast: true).isEmpty)
    }

    @Test("heart rate in an extension with any prefix becomes a sample of heart_rate")
    func readsHeartRate() {
        let text = """
            <g:gpx xmlns:g="http://www.topografix.com/GPX/1/1"><g:trk><g:trkseg><g:trkpt lat="1" lon="2">
            <g:time>2020-01-01T00:00:00Z</g:time><g:extensions><x:TrackPointExtension xmlns:x="u"><x:hr>171</x:hr>
            </x:TrackPointExtension></g:extensions></g:trkpt><g:trkpt lat="x" lon="2"/></g:trkseg></g:trk></g:gpx>
            """
        let decoder = GPXDecoder()

        let found = decoder.decode(Array(text.utf8), isLast: true)

        #expect(found.map(\.stream.name.text) == ["location", "location", "heart_rate"])
        #expect(found.last?.values == [.real(171), .missing])
        #expect(decoder.rejected == 1)
    }
}
