import DataPoints
import Diagnostics
import Testing

@testable import AdafruitIO

@Suite("Payloads of a feed")
struct FeedPayloadTests {
    static let madrid = Location(latitude: 40.4168, longitude: -3.7038, elevation: 650)

    @Test(
        "a published text is understood as the service does",
        arguments: [
            ("22.5", PayloadForm.plain, "22.5", nil),
            ("", .plain, "", nil),
            ("caf\u{e9} \u{1F600}", .plain, "caf\u{e9} \u{1F600}", nil),
            (#"{"value":22.587}"#, .plain, "22.587", nil),
            (#"{"value":1.10}"#, .json, "1.10", nil),
            (#"{"value":"ON"}"#, .plain, "ON", nil),
            (#"{"value":true}"#, .plain, "true", nil),
            (#"{"value": {"a": [1, 2]} , "x":1}"#, .plain, #"{"a":[1,2]}"#, nil),
            (#"{"value":1,"lat":40.4168,"lon":-3.7038,"ele":650}"#, .plain, "1", madrid),
            (#"{"value":1,"lat":"40.4168","lon":"-3.7038","ele":"650"}"#, .json, "1", madrid),
            (#"{"value":1,"lat":40.4168}"#, .json, "1", nil),
            (#"{"temperature": 21.5, "humidity": 40}"#, .plain, #"{"temperature": 21.5, "humidity": 40}"#, nil),
            (#""{\"value\":1}""#, .plain, #""{\"value\":1}""#, nil),
            (#"{"value":"#, .plain, #"{"value":"#, nil),
            ("[1,2]", .json, "[1,2]", nil),
            ("22.5", .csv, "22.5", nil),
            ("22.5,40.4168,-3.7038,650", .csv, "22.5", madrid),
            ("22.5, 40.4168, -3.7038, 650", .csv, "22.5", madrid),
            (#""22.5",40.416800,-3.703800,650.000000"#, .csv, "22.5", madrid),
            (#""say ""hi"", you",,,"#, .csv, #"say "hi", you"#, nil),
            ("22.5,40.4168,-3.7038,", .csv, "22.5", Location(latitude: 40.4168, longitude: -3.7038)),
            ("one,two,three", .csv, "one,two,three", nil),
            (#""open"#, .csv, #""open"#, nil),
            ("1,2,3,4,5", .csv, "1,2,3,4,5", nil),
        ] as [(String, PayloadForm, String, Location?)]
    )
    func published(text: String, form: PayloadForm, value: String, location: Location?) {
        #expect(FeedPayload(text.utf8, form: form) == FeedPayload(value: value, location: location))
    }

    @Test("bytes that are not UTF-8 are no payload")
    func notUTF8() {
        #expect(FeedPayload([0x41, 0xFF], form: .plain) == nil)
    }

    @Test("what is sent has the documented form, byte for byte")
    func written() {
        let point = FeedPayload(value: "22.5", location: Self.madrid)

        #expect(point.text(form: .plain) == "22.5")
        #expect(point.text(form: .csv) == "22.5,40.4168,-3.7038,650")
        #expect(point.text(form: .json) == #"{"value":"22.5","lat":40.4168,"lon":-3.7038,"ele":650}"#)
        #expect(FeedPayload(value: "ON").text(form: .csv) == "ON,,,")
        #expect(FeedPayload(value: #"a,"b""#).text(form: .csv) == #""a,""b""",,,"#)
        #expect(FeedPayload(value: "ON").text(form: .json) == #"{"value":"ON"}"#)
    }

    @Test("the object for subscribers carries value, key, place and time")
    func notice() {
        let text = FeedPayload(value: "1", location: Self.madrid).notice(
            key: "weather.rain",
            createdAt: Timestamp(nanoseconds: 1_777_636_800_250_000_000)
        )

        #expect(
            text
                == #"{"key":"weather.rain","value":"1","last_value":"1","lat":40.4168,"lon":-3.7038,"ele":650,"#
                + #""created_at":"2026-05-01T12:00:00.250Z"}"#
        )
    }

    @Test("numbers are found with and without quotes")
    func numbers() {
        #expect(FeedPayload.number(in: "22.5") == 22.5)
        #expect(FeedPayload.number(in: #""22.5""#) == 22.5)
        #expect(FeedPayload.number(in: " -1e3 ") == -1000)
        for text in ["", "ON", "nan", "inf", "0x", "1,5", "\"\"", "12 C"] {
            #expect(FeedPayload.number(in: text) == nil)
        }
    }
}

@Suite("Payloads of a group")
struct GroupPayloadTests {
    static let expected = GroupPayload(
        entries: [.init(key: "key-1", value: "v"), .init(key: "key-2", value: "2")],
        location: Location(latitude: 1.5, longitude: 2, elevation: 3)
    )

    @Test(
        "JSON and CSV say the same",
        arguments: [
            (#"{"feeds":{"key-1":"v","key-2":2},"location":{"lat":1.5,"lon":2,"ele":3}}"#, PayloadForm.plain),
            (#"{"feeds":{"key-1":"v","key-2":2},"lat":"1.5","lon":2,"ele":3}"#, .json),
            (#"{"feeds":[{"key":"key-1","value":"v"},{"key":"key-2","value":2}],"lat":1.5,"lon":2,"ele":3}"#, .json),
            ("key-1,v\nkey-2,2\nlocation,1.5,2,3\n", .csv),
            ("key-1, v\r\nlocation, 1.5, 2, 3\r\nkey-2,\"2\"", .csv),
        ]
    )
    func read(text: String, form: PayloadForm) throws {
        #expect(try GroupPayload(text.utf8, form: form) == Self.expected)
    }

    @Test("what is sent has the documented form, values always strings")
    func written() {
        #expect(
            Self.expected.text(form: .plain)
                == #"{"feeds":{"key-1":"v","key-2":"2"},"location":{"lat":1.5,"lon":2,"ele":3}}"#
        )
        #expect(Self.expected.text(form: .csv) == "key-1,v\nkey-2,2\nlocation,1.5,2,3\n")
        #expect(GroupPayload(entries: [.init(key: "a", value: "1")]).text(form: .json) == #"{"feeds":{"a":"1"}}"#)
    }

    @Test("what is no group message is refused with its place")
    func refused() {
        #expect(throws: GroupPayload.Failure.notJSON) { try GroupPayload("22.5".utf8, form: .plain) }
        #expect(throws: GroupPayload.Failure.notJSON) { try GroupPayload(#"{"value":1}"#.utf8, form: .json) }
        #expect(throws: GroupPayload.Failure.badLine(2)) { try GroupPayload("a,1\nb\n".utf8, form: .csv) }
        #expect(throws: GroupPayload.Failure.notUTF8) { try GroupPayload([0xFF], form: .csv) }
    }
}
