import Diagnostics
import FastJSON
import Foundation
import Samples
import TestKit
import Testing

@testable import PhoneSamplers

/// Numbers that are the same in each run.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        // SplitMix64
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Messages that are right, and what becomes of them in hostile hands. `FEEDBRIDGE_VARIANTS` makes more of them.
@Suite("Hostile variants of right messages", .timeLimit(.minutes(5))) struct HostileVariantsTests {
    private static let rounds = Int(ProcessInfo.processInfo.environment["FEEDBRIDGE_VARIANTS"] ?? "") ?? 300

    private static let seeds: [(decoder: String, topic: String, text: String)] = {
        let time = today.nanoseconds
        let logger =
            #"{"messageId":1,"sessionId":"s","deviceId":"d","payload":[{"name":"gravity","time":\#(time),"values":{"x":0.5,"y":-1e-3,"z":9.8}},{"name":"accelerometer","time":"\#(time)","values":{"x":1,"y":2,"z":3}},{"name":"bluetooth","time":\#(time),"values":{"rssi":null,"manufacturerData":"4c000215fda50693a4e24fb1afcfc6eb0764782500010002c5"}},{"name":"Extra","time":\#(time),"a b":true,"c":"text"}]}"#
        let tracks = [
            #"{"_type":"location","lat":52.2,"lon":13.3,"tst":1709283789,"acc":10,"alt":36,"vel":18,"cog":98,"p":100.2,"batt":94,"bs":2,"created_at":1709283790}"#,
            #"{"_type":"transition","event":"enter","desc":"home","tst":1709317615,"wtst":1696359532,"t":"c"}"#,
            #"{"_type":"steps","tst":1767225600,"from":1767225000,"to":1767225600,"steps":1200,"distance":840,"floorsup":3}"#,
            #"[{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"x","tst":"1385997757","rad":"50"}]},{"_type":"beacon","uuid":"AA","major":1,"minor":2,"rssi":-60,"tst":1767225600}]"#,
        ]
        let land =
            #"{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-122.03,37.33]},"properties":{"timestamp":"2015-10-01T08:00:00-0700","altitude":0,"speed":4,"horizontal_accuracy":30,"vertical_accuracy":-1,"motion":["driving"],"battery_level":0.89,"battery_state":"charging"}}],"current":{}}"#
        let flat =
            #"[{"ts":1767225599,"a":1.5,"b":{"c":[1,{"d":"ON"}],"e":false},"f":"21.5"},{"time":"2026-01-01T00:00:00Z","x":-0}]"#
        let tasmota = #"{"Time":"2019-11-03T20:45:37","BME280":{"Temperature":68,"Humidity":41.5},"TempUnit":"F"}"#
        return [("logger", "", logger), ("land", "", land), ("flat", "s", flat)]
            + tracks.map { ("tracks", "", $0) }
            + [
                ("zigbee", "zigbee2mqtt/x", #"{"battery":97,"last_seen":"2026-01-01T00:00:00Z","temperature":21.3}"#),
                ("tasmota", "tele/plug/SENSOR", tasmota), ("esphome", "a/sensor/t/state", "21.25"),
            ]
    }()

    private func decoder(_ name: String) -> any PushDecoder {
        switch name {
        case "logger": SensorLoggerDecoder(platform: .ios)
        case "land": OverlandDecoder()
        case "flat": FlatJSONDecoder(JSONMapping())
        case "tracks": OwnTracksDecoder(stepsEvery: .seconds(60))
        case "zigbee": DeviceDecoder(DeviceShape(.zigbee2mqtt))
        case "tasmota": DeviceDecoder(DeviceShape(.tasmota))
        default: DeviceDecoder(DeviceShape(.esphome))
        }
    }

    /// Takes a message, and checks what holds whatever it says.
    private func take(_ body: [UInt8], _ topic: String, with decoder: inout any PushDecoder, _ seen: inout RecentKeys) {
        var push = message("", topic: topic)
        push.body = body
        var gathering = SampleGathering(push, seen: seen)
        let reply = try? decoder.decode(push, into: &gathering)
        gathering.finish()
        for key in gathering.keys { seen.insert(key) }
        let times = SampleGathering.plausibleTimes(at: today)
        var isRight = reply != nil || gathering.batches.allSatisfy { $0.count >= 0 }
        for batch in gathering.batches {
            isRight = isRight && !batch.isEmpty && batch.values.count == batch.count * batch.stream.fields.count
            isRight = isRight && Name(batch.stream.name.text) != nil
            isRight = isRight && batch.times.allSatisfy { times.contains($0.nanoseconds) }
            isRight = isRight && zip(batch.times, batch.times.dropFirst()).allSatisfy { $0 <= $1 }
            for (place, value) in batch.values.enumerated() {
                let kind = batch.stream.fields[place % batch.stream.fields.count].kind
                switch (kind, value) {
                case (.real, .real(let number)): isRight = isRight && number.isFinite
                case (_, .missing), (.integer, .integer), (.text, .text), (.flag, .flag): break
                default: isRight = false
                }
            }
        }
        if !isRight { Issue.record("\(String(decoding: body, as: UTF8.self))") }
    }

    @Test("cut off at every byte")
    func cutOff() {
        for seed in Self.seeds {
            var decoder = decoder(seed.decoder)
            var seen = RecentKeys()
            let bytes = Array(seed.text.utf8)
            for end in 0...bytes.count { take(Array(bytes[..<end]), seed.topic, with: &decoder, &seen) }
        }
    }

    @Test("with bytes changed, pieces doubled, left out or put elsewhere, and pieces of others between")
    func changed() {
        var numbers = Numbers(state: 2026)
        let pieces = [
            "null", "[]", "{}", "1e999", "-1", "9223372036854775807", "18446744073709551616", "\"\"", "\u{0}", "\"ü\"",
            "true", String(repeating: "[", count: 40), "{\"name\":\"x\"}", "0.1e-400", "\\ud800", ",", ":", "}",
        ]
        for _ in 0..<Self.rounds {
            for seed in Self.seeds {
                var decoder = decoder(seed.decoder)
                var seen = RecentKeys()
                var bytes = Array(seed.text.utf8)
                for _ in 0...Int.random(in: 0..<6, using: &numbers) where !bytes.isEmpty {
                    let place = Int.random(in: 0..<bytes.count, using: &numbers)
                    let end = min(bytes.count, place + Int.random(in: 0..<40, using: &numbers))
                    switch Int.random(in: 0..<6, using: &numbers) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
                    case 1: bytes.removeSubrange(place..<end)
                    case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
                    case 3: bytes.insert(contentsOf: bytes[place..<end], at: 0)
                    case 4: bytes.insert(contentsOf: pieces.randomElement(using: &numbers)?.utf8 ?? "".utf8, at: place)
                    default:
                        let other = Array(Self.seeds.randomElement(using: &numbers)?.text.utf8 ?? "".utf8)
                        bytes.replaceSubrange(place..<end, with: other.prefix(Int.random(in: 0..<80, using: &numbers)))
                    }
                }
                take(bytes, seed.topic, with: &decoder, &seen)
                take(Array(seed.text.utf8), seed.topic, with: &decoder, &seen)
            }
        }
    }

    @Test("each value replaced by each of the odd ones")
    func values() throws {
        let odd: [JSON] = [
            .null, true, "", "x", -1, 0, 1e300, -1e300, 9_223_372_036_854_775_807, [], [[]],
            {
                let members: JSON = ["a": 1]
                return members
            }(), "1e400", "-0", .string(String(repeating: "y", count: 5000)),
        ]
        for seed in Self.seeds {
            guard let json = try? JSON.parse(seed.text) else { continue }
            for variant in variants(of: json, odd) {
                var decoder = decoder(seed.decoder)
                var seen = RecentKeys()
                take(Array(variant.serialized().utf8), seed.topic, with: &decoder, &seen)
            }
        }
    }

    /// The document with one value, wherever it stands, replaced.
    private func variants(of json: JSON, _ odd: [JSON]) -> [JSON] {
        var result = odd
        switch json {
        case .array(let elements):
            for index in elements.indices {
                for variant in variants(of: elements[index], odd) {
                    var copy = elements
                    copy[index] = variant
                    result.append(.array(copy))
                }
            }
        case .object(let members):
            for (key, value) in members {
                for variant in variants(of: value, odd) {
                    var copy = members
                    copy[key] = variant
                    result.append(.object(copy))
                }
            }
        default: break
        }
        return result
    }
}
