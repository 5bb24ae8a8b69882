import Foundation
import Samples
import TestKit
import Testing

@testable import Derivations

@Suite("Altitude and ambient light")
struct AltitudeLightTests {
    private func stream(_ name: String) -> Samples.Stream {
        Stream(Name(mapping: name), fields: KnownStreams.fields(of: Name(mapping: name)) ?? [])
    }

    @Test("ten metres up are ten metres, whatever unit the pressure has", arguments: [1.0, 0.1, 100])
    func measuresHeight(_ factor: Double) throws {
        var bench = try Bench("altitude")
        var chance = Chance(3)
        for step in 0..<600 {
            let height = 200 + (step < 200 ? 0 : min(10, Double(step - 200) / 20))
            // The standard atmosphere.
            let pressure = 1_013.25 * pow(1 - height / 44_330.77, 1 / 0.190263) + 0.01 * chance.normal()
            bench.add(stream("pressure"), Double(step) / 10, [Value(pressure * factor)])
        }

        let given = try #require(bench.given["altitude"])
        #expect(given.count >= 58)
        #expect(given.first?.values == [.real(0)])
        #expect(abs((given.last?.values[0].number ?? 0) - 10) < 0.2)
    }

    @Test("a wild value, nonsense and a clock set back do no harm")
    func rejectsNonsense() throws {
        var bench = try Bench("altitude")
        for second in 0..<200 {
            let shifted = Double(second) - (second >= 100 ? 5_000 : 0)
            let value: Value = second % 20 == 10 ? .real(900) : .real(1_000 + 0.001 * Double(second % 7))
            bench.add(stream("pressure"), shifted, [second % 31 == 5 ? .missing : value])
            if second % 13 == 0 { bench.add(stream("pressure"), shifted + 0.5, [.real(5)]) }
        }

        let given = try #require(bench.given["altitude"])
        #expect(given.count > 150)
        for sample in given { #expect((sample.values[0].number ?? 99).magnitude < 0.2) }
    }

    @Test("a pressure that stays the same to the last digit for an hour is unknown, and comes back")
    func findsStuckSensors() throws {
        var bench = try Bench("altitude")
        for second in 0..<4_000 { bench.add(stream("pressure"), Double(second), [.real(1_000)]) }
        #expect(bench.given["altitude"]?.last?.values == [.missing])
        for second in 4_000..<4_010 {
            bench.add(stream("pressure"), Double(second), [.real(1_000 + 0.01 * Double(second % 3))])
        }

        #expect((bench.given["altitude"]?.last?.values[0].number ?? 99).magnitude < 0.5)
    }

    @Test("classes change at their borders, with a margin and not for a moment")
    func classifiesLight() throws {
        var bench = try Bench("ambient_light")
        var second = 0.0
        func hold(_ lux: Double, _ seconds: Int) {
            for step in 0..<seconds {
                second += 1
                bench.add(stream("light"), second, [Value(lux + 0.001 * Double(step % 5))])
            }
        }
        hold(1, 5)
        hold(300, 5)
        hold(30_000, 1)
        hold(300, 5)
        // On the border of indoor and bright: nothing changes.
        hold(480, 5)
        hold(520, 5)
        hold(480, 5)
        hold(700, 5)
        hold(60_000, 5)
        hold(4_000_000, 5)
        hold(60_000, 5)

        #expect(
            bench.texts("ambient_light", 0) == [
                "dark", "indoor", "bright", "sunlight", "unknown", "sunlight",
            ]
        )
    }

    @Test("a sensor stuck at 400 lx is unknown after an hour, and darkness is not")
    func findsStuckLight() throws {
        var bench = try Bench("ambient_light")
        for second in 0..<4_000 { bench.add(stream("light"), Double(second), [.real(400)]) }
        #expect(bench.texts("ambient_light", 0) == ["indoor", "unknown"])

        var dark = try Bench("ambient_light")
        for second in 0..<4_000 { dark.add(stream("light"), Double(second), [.real(0)]) }
        #expect(dark.texts("ambient_light", 0) == ["dark"])
    }

    @Test("a recording whose time jumps back to 0 does no harm", .enabled(if: Recordings.isAvailable))
    func survivesTimeJump() throws {
        var bench = try Bench("ambient_light")
        for line in try Recordings.text("phone/phyphox_light_time_jump_real.csv").split(whereSeparator: \.isNewline)
            .dropFirst()
        {
            let cells = line.split(separator: ",").compactMap { Double($0) }
            bench.add(stream("light"), cells[0], [Value(cells[1])])
        }

        #expect(bench.texts("ambient_light", 0).first == "indoor")
    }
}
