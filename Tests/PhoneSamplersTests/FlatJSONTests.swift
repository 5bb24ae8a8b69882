import Diagnostics
import Samples
import Testing

@testable import PhoneSamplers

@Suite("Flat JSON") struct FlatJSONTests {
    @Test("without a map all members become fields of the stream in the address")
    func allMembers() throws {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))

        let found = try decoding.take(
            message(
                #"{"Temp":21.5,"door":"ON","name":"x","inner":{"battery level":3},"list":[1],"nothing":null}"#,
                topic: "Weather Station"
            )
        )

        let stream = try #require(found.gathering.batches.first?.stream)
        #expect(stream.name.text == "weather_station")
        #expect(stream.fields.map(\.name.text) == ["temp", "door", "name", "inner_battery_level"])
        #expect(found.only("weather_station") == [.real(21.5), .flag(true), .text("x"), .real(3)])
        #expect(found.samples("weather_station")[0].time == today.nanoseconds)
    }

    @Test(
        "the size of a time tells its unit",
        arguments: [
            "1767225599", "1767225599000", "1767225599000000", "1767225599000000000", "1767225599.0",
            #""2025-12-31T23:59:59Z""#, #""1767225599""#,
        ]
    )
    func times(_ time: String) throws {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))

        let found = try decoding.take(message(#"{"ts":\#(time),"v":1}"#, topic: "s"))

        #expect(found.samples("s").map(\.time) == [1_767_225_599_000_000_000])
        #expect(found.only("s") == [.real(1)])
    }

    @Test("a map takes what it names, by key or pointer, into streams with their units")
    func mapping() throws {
        let mapping = JSONMapping(
            entries: [
                try #require(JSONMapping.Entry("/a/0/t", target: "temperature.value")),
                try #require(JSONMapping.Entry("hum", target: "humidity.value")),
                try #require(JSONMapping.Entry("/x~1y", target: "speed", unit: .metresPerSecond)),
            ],
            stream: Name(mapping: "wind"),
            time: "/when"
        )
        var decoding = Decoding(FlatJSONDecoder(mapping))

        let found = try decoding.take(
            message(#"{"when":1767225599,"a":[{"t":"20.5"}],"hum":40,"x/y":3,"other":9}"#, topic: "ignored")
        )

        #expect(found.streams == ["temperature", "humidity", "wind"])
        #expect(found.only("temperature") == [.real(20.5)])
        #expect(found.gathering.batches[0].stream.fields[0].unit == .degreesCelsius)
        #expect(found.gathering.batches[2].stream.fields == [Field(Name(mapping: "speed"), unit: .metresPerSecond)])
    }

    @Test("what has its own time is stored once; what has none, each time")
    func repeated() throws {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))

        #expect(try decoding.take(message(#"{"ts":1767225599,"v":1}"#, topic: "s")).samples("s").count == 1)
        #expect(try decoding.take(message(#"{"ts":1767225599,"v":1}"#, topic: "s")).duplicates("s") == 1)
        #expect(try decoding.take(message(#"{"ts":1767225599,"v":2}"#, topic: "s")).samples("s").count == 1)
        #expect(try decoding.take(message(#"{"v":1}"#, topic: "s")).samples("s").count == 1)
        #expect(try decoding.take(message(#"{"v":1}"#, topic: "s")).samples("s").count == 1)
    }

    @Test("a list of objects is a sample each; a field that comes later is added, and keeps its kind")
    func list() throws {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))

        let found = try decoding.take(
            message(
                #"[{"ts":1767225597,"a":1},{"ts":1767225598,"a":2,"b":"x"},{"ts":1767225599,"a":"3","b":4}]"#,
                topic: "s"
            )
        )

        #expect(
            found.samples("s").map(\.values) == [
                [.real(1)], [.real(2), .text("x")], [.real(3), .text("4.0")],
            ]
        )
    }

    @Test("names from outside take no other source's stream, and not more than their share")
    func names() throws {
        let reserved: Set<Name> = [Name(mapping: "host.load")]
        var decoding = Decoding(FlatJSONDecoder(JSONMapping(), reserved: reserved))

        for (name, stream) in [("../../x", "x_._._x"), (#""; drop table samples"#, "x_drop_table_samples"), ("", "x")] {
            #expect(try decoding.take(message(#"{"v":1}"#, topic: name)).streams == [stream])
        }
        #expect(throws: PushRefusal.self) { try decoding.take(message(#"{"v":1}"#, topic: "host.load")) }
        var taken = 0
        for number in 0..<10_000 where (try? decoding.take(message(#"{"v":1}"#, topic: "n\(number)"))) != nil {
            taken += 1
        }
        #expect(taken == 13)
        // An hour later others may come, up to the most that one source has.
        for hour in 1...100 {
            for number in 0..<20 {
                let name = "h\(hour)_\(number)"
                if (try? decoding.take(message(#"{"v":1}"#, topic: name, at: Int64(hour) * 3601))) != nil { taken += 1 }
            }
        }
        #expect(taken == 253)
        #expect(try decoding.take(message(#"{"v":1}"#, topic: "x")).streams == ["x"])
    }

    @Test("an object of a thousand members has sixty-four fields")
    func wide() throws {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))
        let members = (0..<1000).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")

        let found = try decoding.take(message("{\(members)}", topic: "s"))

        #expect(found.only("s")?.count == 64)
    }

    @Test(
        "what is no object is refused",
        arguments: ["", "5", "[]", "[5]", "\"a\"", "{\"a\":1}x", "nul", "{\"a\":NaN}"]
    )
    func refused(_ text: String) {
        var decoding = Decoding(FlatJSONDecoder(JSONMapping()))
        #expect(throws: PushRefusal.self) { try decoding.take(message(text, topic: "s")) }
    }
}
