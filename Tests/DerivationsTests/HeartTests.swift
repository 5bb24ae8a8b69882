import Foundation
import Samples
import Testing

@testable import Derivations

@Suite("Heart")
struct HeartTests {
    private static let stream = Stream(
        Name(mapping: "heart_rate"),
        fields: KnownStreams.fields(of: Name(mapping: "heart_rate")) ?? []
    )

    private func interval(_ beat: Int) -> Double {
        0.8 + 0.05 * sin(Double(beat) * 0.7) + 0.01 * Double(beat * 37 % 11) / 11
    }

    /// A minute and a half of beats, each told when it has come; `change` makes them ectopic.
    private func bench(_ change: (Int, Double) -> [Double] = { [$1] }) throws -> Bench {
        var bench = try Bench("heart")
        var time = 0.0
        for beat in 0..<110 {
            for interval in change(beat, interval(beat)) {
                time += interval
                bench.add(HeartTests.stream, time, [.real(75), Value(interval)])
            }
        }
        return bench
    }

    @Test("RMSSD and SDNN are those that numpy has for the same intervals")
    func agreesWithNumpy() {
        var window = BeatWindow(seconds: 300)
        for beat in 0..<100 {
            let change = beat > 0 ? interval(beat) - interval(beat - 1) : nil
            window.add(interval(beat), change: change, isNormal: true, at: Int64(beat) * 800_000_000)
        }

        #expect(abs((window.rmssd ?? 0) - 0.02474838197844848) < 1e-12)
        #expect(abs((window.sdnn ?? 0) - 0.03542873412149762) < 1e-12)
    }

    @Test("early beats with their pauses, missed beats and nonsense change nothing much")
    func rejectsEctopicBeats() throws {
        let clean = try #require(try bench().given["heart_variability"]?.last?.values)
        let ectopic = try bench { beat, interval in
            switch beat % 25 {
            case 10: [interval * 0.6]
            case 11: [interval * 1.4]
            case 20: [interval * 2]
            case 23: [0.05, interval]
            default: [interval]
            }
        }

        let found = try #require(ectopic.given["heart_variability"]?.last?.values)
        #expect((found[3].number ?? 0) >= 12)
        #expect(abs((found[0].number ?? 1) - (clean[0].number ?? 0)) < 0.15 * (clean[0].number ?? 0))
        #expect(abs((found[1].number ?? 1) - (clean[1].number ?? 0)) < 0.15 * (clean[1].number ?? 0))
    }

    @Test("a new rhythm is followed after some beats")
    func followsChanges() throws {
        let bench = try bench { beat, interval in [beat < 60 ? interval : interval * 0.6] }

        #expect((bench.given["heart_variability"]?.last?.values[3].number ?? 99) <= 5)
    }

    @Test("where intervals are missing no difference is made over the hole")
    func leavesHoles() throws {
        var bench = try Bench("heart")
        var time = 0.0
        for beat in 0..<200 {
            let interval = 0.75 + (beat / 40 % 2 == 0 ? 0 : 0.08)
            time += interval + (beat % 40 == 0 ? 20 : 0)
            bench.add(HeartTests.stream, time, [.real(75), Value(interval)])
        }

        #expect(bench.given["heart_variability"]?.last?.values[0].number ?? 1 < 0.001)
    }

    @Test("too few beats, and a rhythm of which every fifth is rejected, have no variability")
    func knowsWhatItDoesNotKnow() throws {
        let few = try bench { beat, interval in beat < 15 ? [interval] : [] }
        #expect(few.given["heart_variability"]?.last?.values[0] ?? .missing == .missing)

        let wild = try bench { beat, interval in [interval * (beat % 3 == 0 ? 0.5 : 1)] }
        #expect(wild.given["heart_variability"]?.last?.values[..<2] == [.missing, .missing])
    }

    @Test("zones begin at 50 to 90 % of the highest rate, and are left with a margin")
    func tellsZones() throws {
        var bench = try Bench("heart", [("max", "200")])
        for (second, rate) in [60.0, 99, 100, 99, 97, 125, 140, 160, 180, 230, 300, 0, 150].enumerated() {
            bench.add(HeartTests.stream, Double(second), [.real(rate), .missing])
        }

        let zones = (bench.given["heart_zone"] ?? []).map { $0.values[0] }
        #expect(
            zones == [
                .integer(0), .integer(1), .integer(0), .integer(2), .integer(3), .integer(4), .integer(5), .missing,
                .integer(3),
            ]
        )
    }

    @Test("with a rate at rest the zones are shares of what lies above it")
    func usesReserve() throws {
        var bench = try Bench("heart", [("max", "180"), ("rest", "60")])
        bench.add(HeartTests.stream, 0, [.real(119), .missing])
        bench.add(HeartTests.stream, 1, [.real(120), .missing])

        #expect((bench.given["heart_zone"] ?? []).map { $0.values[0] } == [.integer(0), .integer(1)])
    }
}
