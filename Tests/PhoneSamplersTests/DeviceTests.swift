import Diagnostics
import Samples
import Testing

@testable import PhoneSamplers

@Suite("Devices at home") struct DeviceTests {
    private func decoding(_ preset: DeviceShape.Preset? = nil, _ mapping: JSONMapping = JSONMapping()) -> Decoding<
        DeviceDecoder
    > {
        Decoding(DeviceDecoder(DeviceShape(preset, mapping: mapping)))
    }

    @Test("Zigbee2MQTT: a flat object with its own time; the bridge and commands are no readings")
    func zigbee() throws {
        var decoding = decoding(.zigbee2mqtt)

        let found = try decoding.take(
            message(
                #"{"battery":97,"humidity":51.2,"last_seen":1767225599000,"linkquality":120,"state":"ON","temperature":21.3}"#,
                topic: "zigbee2mqtt/Living room"
            )
        )

        #expect(found.samples("zigbee2mqtt.living_room").map(\.time) == [1_767_225_599_000_000_000])
        let stream = try #require(found.gathering.batches.first?.stream)
        #expect(stream.fields.map(\.name.text) == ["battery", "humidity", "linkquality", "state", "temperature"])
        #expect(stream.fields[4].unit == .degreesCelsius)
        #expect(found.only("zigbee2mqtt.living_room")?[3] == .flag(true))
        for topic in ["zigbee2mqtt/bridge/state", "zigbee2mqtt/x/set", "zigbee2mqtt/x/availability"] {
            #expect(try decoding.take(message(#"{"state":"online"}"#, topic: topic)).streams.isEmpty)
        }
    }

    @Test("Tasmota: each sensor is a stream, its time without a zone is not used, °F becomes °C")
    func tasmota() throws {
        var decoding = decoding(.tasmota)

        let found = try decoding.take(
            message(
                #"""
                {"Time":"2019-11-03T20:45:37","BME280":{"Temperature":68,"Humidity":41.5,"Pressure":1010.1},
                "ENERGY":{"Total":3.18,"Power":42,"Voltage":230},"TempUnit":"F"}
                """#,
                topic: "tele/plug/SENSOR"
            )
        )
        let power = try decoding.take(message("OFF", topic: "stat/plug/POWER"))

        #expect(found.streams == ["tasmota.plug.bme280", "tasmota.plug.energy"])
        #expect(found.only("tasmota.plug.bme280") == [.real(20), .real(41.5), .real(1010.1)])
        #expect(found.samples("tasmota.plug.energy")[0].time == today.nanoseconds)
        #expect(power.only("tasmota.plug.power") == [.flag(false)])
        #expect(try decoding.take(message("Online", topic: "tele/plug/LWT")).streams.isEmpty)
        #expect(try decoding.take(message("ON", topic: "cmnd/plug/POWER")).streams.isEmpty)
    }

    @Test("ESPHome: a bare value; nan is none")
    func esphome() throws {
        var decoding = decoding(.esphome)

        #expect(
            try decoding.take(message("21.25", topic: "porch/sensor/temperature/state")).only(
                "esphome.porch.temperature"
            ) == [.real(21.25)]
        )
        #expect(
            try decoding.take(message("ON", topic: "porch/binary_sensor/door/state")).only("esphome.porch.door") == [
                .flag(true)
            ]
        )
        let none = try decoding.take(message("nan", topic: "porch/sensor/temperature/state"))
        #expect(none.streams.isEmpty && none.rejected == 1)
    }

    @Test("any device: the topic names the stream, a map names fields, and a kept message is no news")
    func any() throws {
        var plain = decoding()
        #expect(try plain.take(message("12.5", topic: "garage/co2")).only("garage.co2") == [.real(12.5)])
        var kept = message("12.5", topic: "garage/co2")
        kept.isRetained = true
        #expect(try plain.take(kept).streams.isEmpty)
        kept.body = Array(#"{"time":"2025-12-31T00:00:00Z","v":3}"#.utf8)
        #expect(try plain.take(kept).samples("garage.co2").count == 1)

        let entry = try #require(JSONMapping.Entry("/data/0/co2", target: "air.co2", unit: Unit(rawValue: "ppm")))
        var mapped = decoding(nil, JSONMapping(entries: [entry]))
        let found = try mapped.take(message(#"{"data":[{"co2":417}]}"#, topic: "garage/air"))
        #expect(found.only("air") == [.real(417)])
        #expect(found.gathering.batches[0].stream.fields[0].unit.rawValue == "ppm")
    }

    @Test("bytes that are no text cost themselves only")
    func bytes() throws {
        var decoding = decoding()
        var bad = message("", topic: "a/b")
        for body in [[0xFF, 0xFE, 0x00], [], [0x00], Array(repeating: 0xC3, count: 5000)] as [[UInt8]] {
            bad.body = body
            let found = try decoding.take(bad)
            #expect(found.streams.isEmpty || found.only("a.b") == [.text("\0")])
        }
    }
}
