import Foundation
import Samples
import Testing

@testable import Derivations

@Suite("Vibration")
struct VibrationTests {
    private static let stream = Stream(
        Name(mapping: "accelerometer"),
        fields: KnownStreams.fields(of: Name(mapping: "accelerometer")) ?? []
    )

    /// A machine at 50.3 Hz with a part at 233 Hz, some noise, and gravity.
    private func acceleration(_ step: Int, rate: Double = 1_000) -> [Double] {
        let t = Double(step) / rate
        return [
            3 * sin(2 * .pi * 50.3 * t) + 0.7 * sin(2 * .pi * 233 * t + 1) + 9.8,
            0.2 * Double(step * 7_919 % 101) / 101,
            1.1 * cos(2 * .pi * 50.3 * t),
        ]
    }

    private func near(_ value: Value?, _ expected: Double, _ share: Double = 1e-9) -> Bool {
        guard let number = value?.number else { return false }
        return abs(number - expected) <= share * abs(expected)
    }

    @Test("the figures of a window are those that numpy has for the same numbers")
    func agreesWithNumpy() throws {
        var bench = try Bench("vibration", [("window", "512"), ("band", "10,100"), ("band", "200,300")])
        for step in 0..<512 {
            bench.add(VibrationTests.stream, Double(step) / 1_000, acceleration(step).map { Value($0) })
        }

        // numpy 2: rfft of (a - mean) * hanning(513)[:-1], powers of the three axes added.
        let values = try #require(bench.given["vibration"]?.first?.values)
        #expect(near(values[0], 2.311125913016178))
        #expect(near(values[1], 3.7229140824515103))
        #expect(near(values[2], 3.7229140824515103 / 2.311125913016178))
        #expect(near(values[3], 50.3, 0.002))
        #expect(near(values[4], 7.162735232571223, 1e-6))
        #expect(near(values[5], 2.259454595876514, 1e-6))
        #expect(near(values[6], 0.49527087859793895, 1e-6))
    }

    @Test("a transform of any size is the one that the definition gives", arguments: [4, 8, 256, 1_024, 4_096])
    func agreesWithDefinition(_ size: Int) {
        var spectrum = RealSpectrum(size: size)
        var chance = Chance(11)
        let numbers = (0..<size).map { _ in chance.normal() }
        var powers = Array(repeating: 0.0, count: size / 2 + 1)

        spectrum.add(numbers, to: &powers)

        for bin in Set([0, 1, size / 4, size / 3, size / 2 - 1, size / 2]) {
            var (real, imaginary) = (0.0, 0.0)
            for (place, number) in numbers.enumerated() {
                let angle = 2 * .pi * Double(place * bin % size) / Double(size)
                real += number * cos(angle)
                imaginary -= number * sin(angle)
            }
            let expected = real * real + imaginary * imaginary
            #expect(abs(powers[bin] - expected) <= 1e-9 * Double(size) + 1e-10 * expected)
        }
    }

    @Test("windows overlap by half, and uneven times do not move the frequency", arguments: ["256", "1024"])
    func overlaps(_ window: String) throws {
        var bench = try Bench("vibration", [("window", window)])
        var chance = Chance(2)
        for step in 0..<4_096 {
            let jitter = Double.random(in: -2e-4...2e-4, using: &chance)
            bench.add(VibrationTests.stream, Double(step) / 1_000 + jitter, acceleration(step).map { Value($0) })
        }

        let given = try #require(bench.given["vibration"])
        #expect(given.count == 4_096 / (Int(window) ?? 1) * 2 - 1)
        for sample in given { #expect(near(sample.values[3], 50.3, 0.01)) }
    }

    @Test("a window with a gap is unknown, and the one after it is not")
    func skipsGaps() throws {
        var bench = try Bench("vibration", [("window", "256")])
        for step in 0..<768 {
            let seconds = Double(step) / 1_000 + (step >= 128 ? 0.1 : 0)
            bench.add(VibrationTests.stream, seconds, acceleration(step).map { Value($0) })
        }

        let given = try #require(bench.given["vibration"])
        #expect(given.first?.values.allSatisfy { $0 == .missing } == true)
        #expect(near(given.last?.values[3], 50.3, 0.02))
    }

    @Test("a sensor at the end of its range, or one that gives the same number for ever, is unknown")
    func refusesBrokenSensors() throws {
        var clipped = try Bench("vibration", [("window", "256")])
        var stuck = try Bench("vibration", [("window", "256")])
        for step in 0..<256 {
            let values = acceleration(step).map { Value(max(8, min(11, $0))) }
            clipped.add(VibrationTests.stream, Double(step) / 1_000, values)
            stuck.add(VibrationTests.stream, Double(step) / 1_000, [.real(0), .real(0), .real(9.8)])
        }

        #expect(clipped.given["vibration"]?.count == 1)
        #expect(clipped.given["vibration"]?.first?.values.allSatisfy { $0 == .missing } == true)
        #expect(stuck.given["vibration"]?.first?.values.allSatisfy { $0 == .missing } == true)
    }

    @Test("noise alone has a root mean square and no frequency")
    func findsNothingInNoise() throws {
        var bench = try Bench("vibration", [("window", "1024")])
        var chance = Chance(9)
        for step in 0..<1_024 {
            bench.add(VibrationTests.stream, Double(step) / 100, (0..<3).map { _ in Value(0.1 * chance.normal()) })
        }

        let values = try #require(bench.given["vibration"]?.first?.values)
        #expect(near(values[0], 0.1 * 3.0.squareRoot(), 0.1))
        #expect(values[3] == .missing)
    }

    @Test("a magnitude alone will do, and missing values and times that go back do no harm")
    func takesMagnitudes() throws {
        var bench = try Bench("vibration", [("window", "256"), ("unit", "g")])
        let stream = Stream(Name(mapping: "accelerometer"), fields: [Field(Name(mapping: "a"))])
        for step in 0..<400 {
            bench.add(stream, Double(step) / 200, [Value(1 + 0.1 * sin(2 * .pi * 20 * Double(step) / 200))])
            if step % 50 == 7 {
                bench.add(stream, Double(step) / 200, [.missing])
                bench.add(stream, Double(step - 30) / 200, [.real(9)])
            }
        }

        let values = try #require(bench.given["vibration"]?.first?.values)
        #expect(near(values[0], 0.1 * 9.80665 / 2.0.squareRoot(), 0.02))
        #expect(near(values[3], 20, 0.01))
    }

    @Test(
        "settings that are wrong are refused",
        arguments: [("window", "300"), ("band", "5"), ("band", "9,3"), ("band", "a,b")]
    )
    func refusesSettings(_ key: String, _ value: String) {
        #expect(throws: DerivationError.self) { try Bench("vibration", [(key, value)]) }
    }
}
