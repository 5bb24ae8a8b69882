import BusSamplers
import FastJSON
import TestKit
import Testing

/// Bytes that real devices sent, with what other people's decoders and hands found in them.
@Suite("Bluetooth decoders", .enabled(if: Recordings.isAvailable))
struct DecoderTests {
    private func vectors(_ name: String) throws -> [JSON] {
        try Recordings.text(name).split(whereSeparator: \.isNewline).map { try JSON.parse(Array($0.utf8)) }
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    @Test("notifications of real heart-rate straps are read as they were meant")
    func heartRate() throws {
        let vectors = try vectors("heartrate/hr_2a37_vectors.jsonl")
        #expect(vectors.count >= 8)
        for vector in vectors {
            let hex = try #require(vector["hex"]?.string)
            let expected = try #require(vector["expect"])
            let contact = expected["contact"]?.bool
            let measurement = try #require(HeartRateMeasurement(bytes(hex)), "\(hex)")
            #expect(measurement.beatsPerMinute == (contact == false ? nil : expected["bpm"]?.int), "\(hex)")
            #expect(measurement.hasContact == contact, "\(hex)")
            let ticks = (expected["rr_1024"]?.array ?? []).compactMap(\.int)
            #expect(measurement.intervals == ticks.map { Double($0) / 1024 }, "\(hex)")
        }
    }

    @Test("energy stands between the rate and the intervals, and up to nine intervals are read")
    func order() throws {
        let measurement = try #require(HeartRateMeasurement(bytes("1e50" + "2c01" + "0004" + "0002")))
        #expect(measurement.beatsPerMinute == 80)
        #expect(measurement.energy == 300)
        #expect(measurement.hasContact == true)
        #expect(measurement.intervals == [1, 0.5])
        let nine = try #require(HeartRateMeasurement(bytes("1050" + String(repeating: "0004", count: 9))))
        #expect(nine.intervals.count == 9)
    }

    @Test("a strap without skin or with a rate of 0 has no reading, and what is too short is nothing")
    func noReading() {
        #expect(HeartRateMeasurement(bytes("0000"))?.beatsPerMinute == nil)
        #expect(HeartRateMeasurement(bytes("045a"))?.beatsPerMinute == nil)
        for hex in ["", "00", "0136", "0850", "085001"] { #expect(HeartRateMeasurement(bytes(hex)) == nil, "\(hex)") }
    }

    @Test("advertisements of real iBeacons are read, other Apple devices are none, impossible powers are unknown")
    func beacons() throws {
        var count = 0
        for vector in try vectors("beacon/ibeacon_vectors.jsonl") {
            guard let hex = vector["manufacturer_data_hex_after_company"]?.string else { continue }
            count += 1
            let beacon = IBeaconAdvertisement(bytes(hex))
            guard let expected = vector["expect"], !expected.isNull else {
                #expect(beacon == nil, "\(hex)")
                continue
            }
            #expect(beacon?.uuid == expected["uuid"]?.string)
            #expect(beacon?.major == expected["major"]?.int)
            #expect(beacon?.minor == expected["minor"]?.int)
            let power = expected["measured_power"]?.int ?? 0
            #expect(beacon?.measuredPower == ((-100 ... -20).contains(power) ? power : nil), "\(hex)")
        }
        #expect(count >= 6)
    }

    @Test("packets of real BTHome sensors are read as others read them")
    func bthome() throws {
        let names = [
            "temperature_C": "temperature", "humidity_pct": "humidity", "battery_pct": "battery",
            "pressure_hPa": "pressure", "illuminance_lux": "illuminance", "acceleration_m_s2": "acceleration",
            "gyroscope_deg_s": "gyroscope", "voltage_V": "voltage", "distance_m": "distance", "current_A": "current",
            "speed_m_s": "speed",
        ]
        var count = 0
        for vector in try vectors("beacon/bthome_v2_vectors.jsonl") {
            guard let hex = vector["hex"]?.string, let expected = vector["expect"]?.object else { continue }
            let packet = try BTHomePacket(bytes(hex))
            #expect(!packet.isCut, "\(hex)")
            for (key, value) in expected {
                count += 1
                if key == "packet_id" {
                    #expect(packet.packetID == value.int)
                    continue
                }
                let name = try #require(names[key], "\(key)")
                let reading = try #require(packet.readings.first { $0.object == name }, "\(hex) \(name)")
                #expect(abs(reading.value - (value.double ?? .nan)) < 1e-9, "\(hex) \(name)")
            }
        }
        #expect(count >= 15)
    }

    @Test("objects out of order are read; reading stops at what is unknown, and keeps what came before")
    func tolerant() throws {
        // The packet of a real plant sensor, whose ids are not in order; it leaves out the byte of information.
        let packet = try BTHomePacket(bytes("40" + "0235082e39050000000cd70c2f000164"))
        #expect(
            packet.readings.map(\.object) == [
                "temperature", "humidity", "illuminance", "voltage", "moisture", "battery",
            ]
        )
        #expect(packet.readings.map(\.value) == [21.01, 57, 0, 3.287, 0, 100])
        let unknown = try BTHomePacket(bytes("4002ca09f00164"))
        #expect(unknown.readings.map(\.value) == [25.06])
        #expect(unknown.isCut)
        #expect(try BTHomePacket(bytes("4002ca")).isCut)
        #expect(throws: BTHomePacket.Problem.encrypted) { try BTHomePacket(bytes("4102ca09")) }
        #expect(throws: BTHomePacket.Problem.notVersion2) { try BTHomePacket(bytes("2002ca09")) }
        #expect(throws: BTHomePacket.Problem.notVersion2) { try BTHomePacket([]) }
    }

    @Test("no bytes bring a decoder down")
    func nonsense() {
        var state: UInt64 = 1
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for _ in 0..<Int(state >> 60) * 2 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(UInt8(truncatingIfNeeded: state >> 33))
            }
            _ = HeartRateMeasurement(bytes)
            _ = IBeaconAdvertisement(bytes)
            _ = IBeaconAdvertisement([2, 0x15] + bytes)
            _ = try? BTHomePacket([0x40] + bytes)
        }
    }
}
