import Diagnostics
import FastJSON
import Samples
import TestKit
import Testing

@testable import GPSDSamplers

@Suite("gpsd's and OwnTracks' lines")
struct LineDecoderTests {
    @Test("TPV objects of one time make one fix, and one without a time belongs to it")
    func mergesReports() {
        let found = GPSDDecoder().decode(
            Array(
                """
                {"class":"VERSION","release":"3.22"}
                {"class":"TPV","mode":1}
                {"class":"TPV","mode":2,"lat":46.5,"lon":7.5}
                {"class":"TPV","mode":3,"time":"2005-06-19T16:12:23.890Z","lat":46.5,"lon":7.5,"altMSL":1330.5,"eph":24.5}
                $GPRMC,,V,,,,,,,,,,N*53
                {"class":"TPV","mode":3,"lat":46.5,"lon":7.5,"track":180.0,"speed":0.086}
                {"class":"TPV","mode":3,"time":"2005-06-19T16:12:24.890Z","lat":46.6,"lon":7.5,"altHAE":100,"geoidSep":47}
                """.utf8
            ),
            isLast: true
        )

        #expect(found.map(\.time.description) == ["2005-06-19T16:12:23.890Z", "2005-06-19T16:12:24.890Z"])
        #expect(found.first?.values[2] == .real(1_330.5))
        #expect(abs((found.first?.values[3].number ?? 0) - 15.1) < 0.01)
        #expect(found.first?.values[4...] == [.real(0.086), .real(180)])
        #expect(found.last?.values[2] == .real(53))
    }

    @Test("a position of 0, 0 is none, and broken lines are counted")
    func refusesNull() {
        let decoder = GPSDDecoder()

        let found = decoder.decode(
            Array(
                """
                {"class":"TPV","mode":3,"time":"2005-06-19T16:12:23Z","lat":0.0,"lon":0.0}
                {"class":"TPV","mode":3,"time":"2005-06-19T16:12:23Z","lat":95.0,"lon":0.0}
                {"class":"TPV","mode":3,
                """.utf8
            ),
            isLast: true
        )

        #expect(found.isEmpty)
        #expect(decoder.rejected == 3)
    }

    @Test(
        "every fix of a recorded stream comes once, at the place that gpsd said",
        .enabled(if: Recordings.isAvailable),
        arguments: ["bu303-climbing", "bu303-moving", "bu303-nofix", "neo-m8n", "april6_2019"]
    )
    func readsRecordings(_ name: String) throws {
        let bytes = try Recordings.bytes("gpsd/\(name).gpsd3.22.json")
        let reports = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .compactMap { try? JSON.parse(String($0)) }
            .filter { $0["class"]?.string == "TPV" && ($0["mode"]?.int ?? 0) >= 2 }
        let times = Set(reports.compactMap { $0["time"]?.string })

        let found = GPSDDecoder().decode(bytes, isLast: true)

        #expect(found.count == times.count)
        let places = Set(reports.map { "\($0["lat"]?.double ?? 0) \($0["lon"]?.double ?? 0)" })
        for fix in found { #expect(places.contains("\(fix.values[0].number ?? 0) \(fix.values[1].number ?? 0)")) }
    }

    @Test(
        "the recorder's lines give places in m/s and hPa, once each, and transitions",
        .enabled(if: Recordings.isAvailable)
    )
    func readsOwnTracks() throws {
        let decoder = OwnTracksDecoder()

        let found = decoder.decode(try Recordings.bytes("phone/owntracks_2024-03.rec"), isLast: true)

        let locations = found.filter { $0.stream.name.text == "location" }
        let transitions = found.filter { $0.stream.name.text == "geofence.owntracks" }
        #expect(locations.count == 9)
        #expect(abs((locations.first?.values[4].number ?? 0) - 5 / 3.6) < 1e-9)
        #expect(transitions.map(\.values) == [[.text("home"), .text("leave")], [.text("Home"), .text("enter")]])
        let pressure = try #require(found.first { $0.stream.name.text == "pressure" }?.values[0].number)
        #expect(abs(pressure - 1_002.66) < 1e-9)
        #expect(decoder.rejected == 0)
    }

    @Test("odd messages of real phones do no harm", .enabled(if: Recordings.isAvailable))
    func survivesOddities() throws {
        let found = OwnTracksDecoder().decode(try Recordings.bytes("phone/owntracks_oddities_real.jsonl"), isLast: true)

        // A region that is known by the second of its making only, and a beacon's region with a name.
        let regions = found.filter { $0.stream.name.text == "geofence.owntracks" }.map(\.values)
        #expect(regions.contains([.text("waypoint 1525300290"), .text("leave")]))
        #expect(regions.contains([.text("inner"), .text("enter")]))
        #expect(!found.contains { $0.stream.name.text == "location" })
    }

    @Test(
        "the format is told from the content",
        .enabled(if: Recordings.isAvailable),
        arguments: [
            ("gpx/unicode_with_bom.gpx", TrackFormat.gpx), ("gpx/korita-zbevnica.gpx", .gpx),
            ("gpsd/neo-m8n.gpsd3.22.json", .gpsd), ("gpsd/neo-m8n.log", .nmea), ("gpsd/neo-m8n.log.chk", .nmea),
            ("phone/owntracks_2024-03.rec", .owntracks), ("phone/owntracks_oddities_real.jsonl", .owntracks),
        ]
    )
    func tellsFormats(_ name: String, _ format: TrackFormat) throws {
        #expect(TrackFormat(beginning: try Recordings.bytes(name).prefix(4_096)) == format)
    }

    @Test("other files are none of these", .enabled(if: Recordings.isAvailable))
    func tellsOthers() throws {
        #expect(TrackFormat(beginning: try Recordings.bytes("health/export6s3sample.xml").prefix(4_096)) == nil)
        #expect(TrackFormat(beginning: Array("time_ns,ax,ay,az\n1,2,3,4\n".utf8)) == nil)
    }

    @Test("a line that is too long is skipped, and the next one is read")
    func skipsLongLines() {
        let decoder = GPSDDecoder()
        let long = Array(repeating: UInt8(ascii: "x"), count: 70_000)
        _ = decoder.decode(long, isLast: false)
        _ = decoder.decode(long, isLast: false)

        let found = decoder.decode(
            Array("\n{\"class\":\"TPV\",\"mode\":2,\"time\":\"2020-01-01T00:00:00Z\",\"lat\":1,\"lon\":2}\n".utf8),
            isLast: true
        )

        #expect(found.count == 1)
        #expect(decoder.rejected == 1)
    }
}
