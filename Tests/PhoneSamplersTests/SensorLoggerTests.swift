import Diagnostics
import Samples
import Testing

@testable import PhoneSamplers

@Suite("Sensor Logger") struct SensorLoggerTests {
    private func post(_ payload: String, id: Int = 1, session: String = "s", extra: String = "") -> PushMessage {
        message(#"{"messageId":\#(id),"sessionId":"\#(session)","deviceId":"d"\#(extra),"payload":[\#(payload)]}"#)
    }

    private func decoding(_ platform: PhonePlatform = .android, _ standard: PhoneStandard = .auto) -> Decoding<
        SensorLoggerDecoder
    > {
        Decoding(SensorLoggerDecoder(platform: platform, standard: standard))
    }

    @Test("a time of nineteen digits stays exact, and values stand in their fields whatever their order")
    func exactTime() throws {
        var decoding = decoding()

        let found = try decoding.take(
            post(#"{"name":"totalacceleration","time":1767225600123456789,"values":{"z":9.81,"y":0.5,"x":-0.25}}"#)
        )

        #expect(found.samples("accelerometer").map(\.time) == [1_767_225_600_123_456_789])
        #expect(found.only("accelerometer") == [.real(-0.25), .real(0.5), .real(9.81)])
        #expect(found.reply == PushReply(#"{"result":"ok"}"#))
    }

    @Test("values may stand beside name and time, and times and numbers may be texts")
    func looseForms() throws {
        var decoding = decoding()

        let found = try decoding.take(
            message(
                #"[{"sensor":"Gyroscope","time":"1767225600000000001","seconds_elapsed":"0.1","z":"3","y":"2","x":"1"}]"#
            )
        )

        #expect(found.only("gyroscope") == [.real(1), .real(2), .real(3)])
    }

    @Test("an iPhone face up reads +1 g, and its numbers in g become m/s^2, unless the app has standardised them")
    func signs() throws {
        let entries = #"""
            {"name":"gravity","time":1767225600000000000,"values":{"x":0,"y":0,"z":-9.80665}},
            {"name":"accelerometeruncalibrated","time":1767225600000000000,"values":{"x":0,"y":0.5,"z":-1}}
            """#
        var plain = decoding(.ios)
        let found = try plain.take(post(entries))
        #expect(found.only("gravity")?[2] == .real(9.80665))
        #expect(found.only("accelerometer.uncalibrated") == [.real(-0.0), .real(-4.903325), .real(9.80665)])

        let standardised = #"{"name":"gravity","time":1767225600000000000,"values":{"x":0,"y":0,"z":9.80665}}"#
        var on = decoding(.ios, .on)
        #expect(try on.take(post(standardised)).only("gravity")?[2] == .real(9.80665))
        var android = decoding(.android)
        #expect(try android.take(post(standardised)).only("gravity")?[2] == .real(9.80665))
    }

    @Test("a message that says platform and standardisation is believed")
    func metadata() throws {
        var decoding = decoding(.auto)
        let gravity = #"{"name":"gravity","time":1767225600000000000,"values":{"x":0,"y":0,"z":-9.80665}}"#
        let metadata =
            #"{"name":"metadata","time":1767225600000000000,"values":{"platform":"ios","standardisation":"false"}}"#

        #expect(try decoding.take(post(gravity, id: 1)).only("gravity")?[2] == .real(-9.80665))
        _ = try decoding.take(post(metadata, id: 2))
        #expect(try decoding.take(post(gravity, id: 3)).only("gravity")?[2] == .real(9.80665))
        _ = try decoding.take(post("", id: 4, extra: #","standardisation":true"#))
        #expect(try decoding.take(post(gravity, id: 5)).only("gravity")?[2] == .real(-9.80665))
    }

    @Test("acceleration and gravity of one moment make the acceleration that an accelerometer reads")
    func wholeAcceleration() throws {
        var decoding = decoding(.ios)

        let found = try decoding.take(
            post(
                #"""
                {"name":"accelerometer","time":1767225600000000000,"values":{"x":1,"y":0,"z":0}},
                {"name":"accelerometer","time":1767225600010000000,"values":{"x":2,"y":0,"z":0}},
                {"name":"gravity","time":1767225600010000000,"values":{"x":0,"y":0,"z":-9.75}}
                """#
            )
        )

        #expect(found.samples("user_acceleration").count == 2)
        #expect(found.samples("accelerometer").map(\.time) == [1_767_225_600_010_000_000])
        #expect(found.only("accelerometer")?[0] == .real(-2))
        #expect(found.only("accelerometer")?[2] == .real(9.75))
    }

    @Test("a message that comes again is stored once, and a new session begins its own count")
    func repeated() throws {
        var decoding = decoding()
        let entry = #"{"name":"light","time":1767225600000000000,"values":{"lux":12}}"#

        #expect(try decoding.take(post(entry, id: 0)).only("light") == [.real(12)])
        let again = try decoding.take(post(entry, id: 0))
        #expect(again.streams.isEmpty)
        #expect(again.duplicates("sensor_logger") == 1)
        #expect(try decoding.take(post(entry, id: 0, session: "t")).only("light") == [.real(12)])
    }

    @Test("samples come out in the order of their times, and equal rows once")
    func order() throws {
        var decoding = decoding()
        func entry(_ time: Int, _ x: Double) -> String {
            #"{"name":"gyroscope","time":\#(1_767_225_600_000_000_000 + time),"values":{"x":\#(x),"y":0,"z":0}}"#
        }

        let found = try decoding.take(
            post([entry(30, 3), entry(10, 1), entry(30, 3), entry(30, 4)].joined(separator: ","))
        )

        #expect(found.samples("gyroscope").map { $0.time % 100 } == [10, 30, 30])
        #expect(found.samples("gyroscope").map { $0.values[0] } == [.real(1), .real(3), .real(4)])
        #expect(found.duplicates("gyroscope") == 1)
    }

    @Test("what is negative because it is unknown is missing")
    func location() throws {
        var decoding = decoding()

        let found = try decoding.take(
            post(
                #"""
                {"name":"location","time":1767225600000000000,"values":{"latitude":40.5,"longitude":-3.25,"altitude":-12.5,
                "speed":-1,"bearing":-1,"horizontalAccuracy":4.5,"verticalAccuracy":-1}}
                """#
            )
        )

        #expect(
            found.only("location") == [.real(40.5), .real(-3.25), .real(-12.5), .real(4.5), .missing, .missing]
        )
    }

    @Test("the watch's pressure, altitude and course become those of a phone")
    func watch() throws {
        var decoding = decoding(.ios)

        let found = try decoding.take(
            post(
                #"""
                {"name":"watchbarometer","time":1767225600000000000,"values":{"pressure":101.325,"relativeAltitude":2}},
                {"name":"watchlocation","time":1767225600000000000,"values":{"latitude":1,"longitude":2,"altitude":30,
                "ellipsoidalAltitude":80,"course":90,"speed":3,"horizontalAccuracy":5}},
                {"name":"wrist motion","time":1767225600000000000,"values":{"accelerationX":0.5,"gravityZ":-1,"rotationRateY":2}}
                """#
            )
        )

        #expect(found.only("pressure.watch") == [.real(1013.25)])
        #expect(found.only("altitude.watch") == [.real(2)])
        #expect(found.only("location.watch") == [.real(1), .real(2), .real(80), .real(5), .real(3), .real(90)])
        #expect(found.only("user_acceleration.watch")?[0] == .real(-4.903325))
        #expect(found.only("gravity.watch")?[2] == .real(9.80665))
        #expect(found.only("rotation_rate.watch")?[1] == .real(2))
    }

    @Test("the other known sensors have their streams and units")
    func others() throws {
        var decoding = decoding()

        let found = try decoding.take(
            post(
                #"""
                {"name":"pedometer","time":1767225600000000000,"values":{"steps":123}},
                {"name":"brightness","time":1767225600000000000,"values":{"brightness":0.5}},
                {"name":"battery","time":1767225600000000000,"values":{"batteryLevel":0.75,"batteryState":"charging"}},
                {"name":"heartrate","time":1767225600000000000,"values":{"bpm":61}},
                {"name":"activity","time":1767225600000000000,"values":{"activity":"walking","confidence":"high"}},
                {"name":"compass","time":1767225600000000000,"values":{"magneticBearing":270.5}},
                {"name":"barometer","time":1767225600000000000,"values":{"pressure":1011.5}},
                {"name":"microphone","time":1767225600000000000,"values":{"dBFS":-40.5}}
                """#
            )
        )

        #expect(found.only("steps")?[0] == .integer(123))
        #expect(found.only("screen") == [.real(0.5)])
        #expect(found.only("battery") == [.real(75), .text("charging")])
        #expect(found.only("heart_rate")?[0] == .real(61))
        #expect(found.only("activity") == [.text("walking"), .real(1)])
        #expect(found.only("heading")?[0] == .real(270.5))
        #expect(found.only("pressure") == [.real(1011.5)])
        #expect(found.only("microphone") == [.real(-40.5)])
        #expect(found.rejected == 0)
    }

    @Test("an iBeacon's advertisement becomes a beacon; another one stays an advertisement")
    func beacons() throws {
        var decoding = decoding()

        let found = try decoding.take(
            post(
                #"""
                {"name":"bluetooth","time":1767225600000000000,"values":{"id":"AA:BB","rssi":-61,
                "manufacturerData":"4c000215FDA50693A4E24FB1AFCFC6EB0764782500010002c5"}},
                {"name":"bluetooth","time":1767225600000000001,"values":{"id":"CC:DD","rssi":null,"manufacturerData":"4c0010"}}
                """#
            )
        )

        #expect(
            found.only("beacon") == [
                .text("fda50693-a4e2-4fb1-afcf-c6eb07647825"), .integer(1), .integer(2), .real(-61), .real(-59),
            ]
        )
        #expect(found.only("bluetooth")?.first == .text("CC:DD"))
    }

    @Test("yaw becomes counter-clockwise from east, pitch positive when the top edge rises")
    func attitude() throws {
        let entry = #"""
            {"name":"orientation","time":1767225600000000000,"values":{"qx":0,"qy":0,"qz":0,"qw":1,"roll":0.1,"pitch":-0.2,"yaw":0.5}}
            """#
        var android = decoding(.android)
        #expect(try android.take(post(entry)).only("attitude")?.suffix(3) == [.real(0.1), .real(0.2), .real(-0.5)])
        var apple = decoding(.ios)
        let found = try apple.take(post(entry)).only("attitude")
        #expect(found?.prefix(4).allSatisfy { $0 == .missing } == true)
        #expect(found?.last == .real(0.5 + .pi / 2))
    }

    @Test(
        "a message that is none is refused as a whole",
        arguments: ["", "{", "[1,2", "{\"payload\":5}", "{}", "\u{0}", "nonsense", "\"payload\"", "{\"payload\":[}"]
    )
    func refused(_ text: String) {
        var decoding = decoding()
        #expect(throws: PushRefusal.self) { try decoding.take(message(text)) }
    }

    @Test("an entry that is no use costs itself only")
    func badEntries() throws {
        var decoding = decoding()

        let found = try decoding.take(
            post(
                #"""
                5, null, [], {"name":7}, {"name":"light"}, {"name":"light","time":"soon","values":{"lux":1}},
                {"name":"light","time":-1,"values":{"lux":1}}, {"name":"light","time":9223372036854775807,"values":{"lux":1}},
                {"name":"light","time":1767225600000000000,"values":{"lux":"bright"}},
                {"name":"light","time":1767225600000000000,"values":7},
                {"name":"light","time":1767225600000000005,"values":{"lux":3}}
                """#
            )
        )

        #expect(found.only("light") == [.real(3)])
        #expect(found.rejected == 10)
    }

    @Test("names from outside are mapped, and of ten thousand different ones sixteen are taken")
    func names() throws {
        var decoding = decoding()
        func entry(_ name: String) -> String {
            #"{"name":"\#(name)","time":1767225600000000000,"values":{"a.b":1,"\"; drop table":2}}"#
        }

        let found = try decoding.take(post([#"\"; drop table x"#, "../../x"].map(entry).joined(separator: ",")))
        #expect(found.streams == ["x_drop_table_x", "x_._._x"])
        #expect(found.gathering.batches[0].stream.fields.map(\.name.text) == ["a_b", "x_drop_table"])

        let many = try decoding.take(post((0..<10_000).map { entry("name\($0)") }.joined(separator: ","), id: 2))
        #expect(many.streams.count == 14)
        #expect(many.rejected == 9986)
    }
}
