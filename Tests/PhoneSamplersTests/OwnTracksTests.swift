import Diagnostics
import FastJSON
import Samples
import SecretBox
import TestKit
import Testing

@testable import PhoneSamplers

@Suite("OwnTracks") struct OwnTracksTests {
    private let decoder = OwnTracksDecoder()

    @Test("speed, pressure and level come in the declared units, and what is unknown is missing")
    func units() throws {
        var decoding = Decoding(decoder)

        let found = try decoding.take(
            message(
                #"""
                {"_type":"location","lat":52.225,"lon":13.332,"tst":1709283789,"acc":10,"alt":36,"vel":18,"cog":-1,"p":100.266,
                "batt":94,"bs":2,"topic":"owntracks/test/phone"}
                """#
            )
        )

        #expect(found.samples("location").map(\.time) == [1_709_283_789_000_000_000])
        #expect(
            found.only("location") == [.real(52.225), .real(13.332), .real(36), .real(10), .real(5), .missing]
        )
        #expect(found.only("pressure") == [.real(100.266 * 10)])
        #expect(found.only("battery") == [.real(94), .text("charging")])
        #expect(found.reply == PushReply("[]"))
    }

    @Test("a fix that is sent again later counts once, and its new pressure by itself")
    func sameFix() throws {
        var decoding = Decoding(decoder)
        func fix(_ more: String) -> PushMessage {
            message(
                #"{"_type":"location","lat":1.5,"lon":2.5,"tst":1709970594,"topic":"owntracks/mkay/phone",\#(more)}"#
            )
        }

        #expect(try decoding.take(fix(#""p":100.694"#)).streams == ["location", "pressure"])
        let again = try decoding.take(fix(#""p":100.734,"created_at":1709970604"#))
        #expect(again.streams == ["pressure"])
        #expect(again.samples("pressure").map(\.time) == [1_709_970_604_000_000_000])
        #expect(again.duplicates("location") == 1)
    }

    @Test("a transition is its event, region and time; the position before it is not used")
    func transition() throws {
        var decoding = Decoding(decoder)

        _ = try decoding.take(
            message(#"{"_type":"waypoint","desc":"Coffee","lat":48.8,"lon":2.3,"rad":"50","tst":"1385997757"}"#)
        )
        let named = try decoding.take(
            message(
                #"{"_type":"transition","event":"enter","desc":"inner","t":"b","lat":0.0,"lon":0.0,"tst":1709317615,"wtst":1}"#
            )
        )
        let joined = try decoding.take(
            message(#"{"_type":"transition","event":"leave","t":"c","tst":1709317616,"wtst":1385997757}"#)
        )

        #expect(named.streams == ["geofence"])
        #expect(named.only("geofence") == [.text("inner"), .text("enter")])
        #expect(joined.only("geofence") == [.text("Coffee"), .text("leave")])
    }

    @Test("a region's events are told once, in whatever order two regions come")
    func regions() throws {
        var decoding = Decoding(decoder)
        func event(_ event: String, _ region: String, _ time: Int) -> PushMessage {
            message(#"{"_type":"transition","event":"\#(event)","desc":"\#(region)","tst":\#(time)}"#)
        }

        #expect(try decoding.take(event("enter", "B", 1_709_317_610)).streams == ["geofence"])
        #expect(try decoding.take(event("leave", "A", 1_709_317_609)).streams == ["geofence"])
        #expect(try decoding.take(event("enter", "B", 1_709_317_610)).duplicates("geofence") == 1)
        // After a restart the phone says again where it is.
        #expect(try decoding.take(event("enter", "B", 1_709_317_700)).duplicates("geofence") == 1)
        #expect(try decoding.take(event("leave", "B", 1_709_317_800)).streams == ["geofence"])
    }

    @Test("steps are asked for when it is time, and come with distance and floors")
    func steps() throws {
        var decoding = Decoding(OwnTracksDecoder(stepsEvery: .seconds(600)))
        let place = #"{"_type":"location","lat":1,"lon":2,"tst":1767225500,"topic":"owntracks/u/d"}"#

        let asked = try decoding.take(message(place, at: 1))
        #expect(
            asked.reply
                == PushReply(#"[{"_type":"cmd","action":"reportSteps","from":1767225000,"to":1767225600}]"#)
        )
        #expect(try decoding.take(message(place, at: 600)).reply == PushReply("[]"))
        #expect(try decoding.take(message(place, at: 601)).reply != PushReply("[]"))

        let told = try decoding.take(
            message(
                #"""
                {"_type":"steps","tst":1767225600,"from":1767225000,"to":1767225600,"steps":1200,"distance":840,"floorsup":3,
                "floorsdown":1}
                """#
            )
        )
        #expect(told.only("steps") == [.integer(1200), .real(2), .real(840), .missing])
        #expect(told.only("floors") == [.integer(3), .integer(1)])
        let none = try decoding.take(
            message(#"{"_type":"steps","tst":1767225600,"from":1767225000,"to":1767225601,"steps":-1}"#)
        )
        #expect(none.streams.isEmpty)
        #expect(none.rejected == 1)
    }

    @Test("a beacon has its ids and signal")
    func beacon() throws {
        var decoding = Decoding(decoder)

        let found = try decoding.take(
            message(
                #"""
                {"_type":"beacon","desc":"B","uuid":"AABB0693-A4E2-4FB1-AFCF-C6EB07647825","major":1,"minor":2,"tst":1767225600,"acc":1.5,
                "rssi":-62,"prox":2}
                """#
            )
        )

        #expect(
            found.only("beacon") == [
                .text("aabb0693-a4e2-4fb1-afcf-c6eb07647825"), .integer(1), .integer(2), .real(-62), .missing,
            ]
        )
    }

    @Test("an empty body is answered, and an encrypted one refused with the way out")
    func bodies() throws {
        var decoding = Decoding(decoder)

        #expect(try decoding.take(message("")).reply == PushReply("[]"))
        #expect(try decoding.take(message(" \n")).reply == PushReply("[]"))
        let refusal = #expect(throws: PushRefusal.self) {
            try decoding.take(message(#"{"_type":"encrypted","data":"AAAA"}"#))
        }
        #expect(refusal?.status == 422)
        #expect(refusal?.description.contains("encryption key") == true)
        for text in ["{", "5", "[[]]", "\u{1}x"] {
            #expect(throws: PushRefusal.self) { try decoding.take(message(text)) }
        }
    }

    @Test(
        "the recorded day of a phone is read whole, the fix that comes again once",
        .enabled(if: Recordings.isAvailable)
    )
    func recordedDay() throws {
        var decoding = Decoding(decoder)
        var places = 0
        var events: [[Value]] = []
        var rejected = 0
        for line in try Recordings.text("phone/owntracks_2024-03.rec").split(separator: "\n") {
            let found = try decoding.take(message(String(line.split(separator: "\t")[2])))
            places += found.samples("location").count
            events += found.samples("geofence").map(\.values)
            rejected += found.rejected
        }

        // Nine locations, of which one comes twice; the last has its time, but another place.
        #expect(places == 8)
        #expect(events == [[.text("home"), .text("leave")], [.text("Home"), .text("enter")]])
        #expect(rejected == 0)
    }

    @Test("the recorded oddities are what they are expected to be", .enabled(if: Recordings.isAvailable))
    func oddities() throws {
        let lines = try Recordings.text("phone/owntracks_oddities_real.jsonl").split(separator: "\n")
        var decoding = Decoding(decoder)
        var found: [Found] = []
        for line in lines {
            let json = try JSON.parse(String(line))
            found.append(try decoding.take(message(try #require(json["msg"]).serialized(), wall: today)))
        }

        // Steps that are called a location.
        #expect(found[0].only("steps")?[0] == .integer(0))
        #expect(found[0].streams == ["steps", "floors"])
        // Transitions without a name.
        #expect(found[1].only("geofence")?[1] == .text("leave"))
        #expect(found[2].only("geofence")?[1] == .text("enter"))
        // One fix sent twice: its pressures are two.
        #expect(found[3].only("pressure") == [.real(100.694 * 10)])
        #expect(found[4].only("pressure") == [.real(100.734 * 10)])
        // A last will and a waypoint whose numbers are texts.
        #expect(found[5].streams.isEmpty && found[5].rejected == 0)
        #expect(found[6].streams.isEmpty && found[6].rejected == 0)
        // A beacon's transition at 0, 0, long before any phone.
        #expect(found[7].samples("location").isEmpty)
    }
}
