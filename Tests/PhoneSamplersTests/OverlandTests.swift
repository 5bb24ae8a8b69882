import Samples
import TestKit
import Testing

@testable import PhoneSamplers

@Suite("Overland") struct OverlandTests {
    @Test("the recorded batch is read, its event without a place included", .enabled(if: Recordings.isAvailable))
    func recorded() throws {
        var decoding = Decoding(OverlandDecoder())

        let found = try decoding.take(message(try Recordings.text("phone/overland_geodata.json")))

        // 2015-10-01T08:00:00-0700
        #expect(found.samples("location").map(\.time) == [1_443_711_600_000_000_000])
        #expect(
            found.only("location") == [
                .real(37.3318), .real(-122.030581), .real(0), .real(30), .real(4), .missing,
            ]
        )
        #expect(found.samples("battery").map(\.values[1]) == [.text("charging"), .text("unplugged")])
        #expect(found.only("activity") == [.text("driving"), .missing])
        #expect(found.rejected == 0)
        #expect(found.reply == PushReply(#"{"result":"ok"}"#))
    }

    private func feature(_ time: String, _ more: String = "", coordinates: String = "[2.5,1.5]") -> String {
        #"{"geometry":{"type":"Point","coordinates":\#(coordinates)},"properties":{"timestamp":"\#(time)"\#(more)}}"#
    }

    @Test("the same place in a later batch counts once, and a missing device is no reason to lose anything")
    func repeated() throws {
        var decoding = Decoding(OverlandDecoder())
        let one = feature("2025-12-01T10:00:00Z", #","altitude":-1,"speed":-1"#)
        let two = feature("2025-12-01T10:00:01Z", #","device_id":"","altitude":-1,"vertical_accuracy":3"#)

        let first = try decoding.take(message(#"{"locations":[\#(one)],"current":\#(two)}"#))
        let second = try decoding.take(message(#"{"locations":[\#(one),\#(two)]}"#))

        #expect(first.samples("location").count == 2)
        #expect(first.samples("location").map(\.values[2]) == [.missing, .real(-1)])
        #expect(second.streams.isEmpty)
        #expect(second.duplicates("location") == 2)
    }

    @Test("a feature that is no use costs itself only: its batch is answered")
    func badFeatures() throws {
        var decoding = Decoding(OverlandDecoder())
        let bad = [
            "{}", "5", "null", feature("yesterday"), feature("2025-12-01T10:00:02Z", coordinates: "[]"),
            feature("2025-12-01T10:00:03Z", coordinates: "[200,100]"),
            feature("2025-12-01T10:00:04Z", coordinates: #"["a","b"]"#), feature("1900-01-01T00:00:00Z"),
        ]

        let found = try decoding.take(
            message(#"{"locations":[\#((bad + [feature("2025-12-01T10:00:05Z")]).joined(separator: ","))]}"#)
        )

        #expect(found.samples("location").count == 1)
        #expect(found.rejected == bad.count)
        #expect(found.reply == .ok)
    }

    @Test(
        "a body that is no batch is refused, so that the phone keeps what it has",
        arguments: ["", "[]", "{}", "{\"locations\":1}"]
    )
    func refused(_ text: String) {
        var decoding = Decoding(OverlandDecoder())
        #expect(throws: PushRefusal.self) { try decoding.take(message(text)) }
    }
}
