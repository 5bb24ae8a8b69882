import Diagnostics
import Foundation
import Samples
import Testing

@testable import Derivations

@Suite("Device motion")
struct AttitudeTests {
    /// A device that lies still with its sides turned by `yaw`, in a field of 20 uT north and 40 down.
    private func still(
        seconds: Double = 10,
        from: Double = 1_000,
        rate: Double = 100,
        up: Vector = Vector(0, 0, 1),
        north: Vector = Vector(0, 1, 0),
        turn: Vector = .zero,
        scale: Double = 9.80665
    ) -> [SampleBatch] {
        func noise(_ time: Double, _ size: Double) -> Vector {
            Vector(sin(time * 991), sin(time * 1_307 + 1), sin(time * 773 + 2)) * size
        }
        func axes(_ v: Vector) -> [Double] { [v.x, v.y, v.z] }
        return [
            Made.batch("gyroscope", rate: rate, seconds: seconds, from: from) { axes(turn + noise($0, 0.002)) },
            Made.batch("accelerometer", rate: rate, seconds: seconds, from: from) {
                axes(up * scale + noise($0, 0.002 * scale))
            },
            Made.batch("magnetometer", rate: rate, seconds: seconds, from: from) {
                axes(north * 20 - up * 40 + noise($0, 0.2))
            },
        ]
    }

    private func run(_ batches: [SampleBatch], _ settings: [DerivationSettings.Entry] = []) throws -> Outcome {
        Outcome([try AttitudeDerivation(DerivationSettings(settings))], Made.interleaved(batches, by: 10))
    }

    private func last(_ outcome: Outcome, _ stream: String) -> [Double] {
        outcome.samples[stream]?.last?.values.map { $0.number ?? .nan } ?? []
    }

    @Test("face up with the top to the north is no rotation, heading 0, gravity on z")
    func knowsTheFrame() throws {
        let outcome = try run(still())

        let attitude = last(outcome, "attitude")
        #expect(abs(abs(attitude[0]) - 1) < 1e-3)
        let heading = last(outcome, "heading")
        #expect(heading[0] < 2 || heading[0] > 358)
        #expect(heading[1] < 15)
        #expect(abs(last(outcome, "gravity")[2] - 9.80665) < 0.01)
        #expect(last(outcome, "user_acceleration").allSatisfy { abs($0) < 0.1 })
    }

    @Test("the top to the east is heading 90; upright, the back's direction counts")
    func knowsHeadings() throws {
        // Top (y) to the east: x points south.
        #expect(abs(last(try run(still(north: Vector(-1, 0, 0))), "heading")[0] - 90) < 2)
        // Upright, the back (-z) to the north: y is up.
        let upright = last(try run(still(up: Vector(0, 1, 0), north: Vector(0, 0, -1))), "heading")[0]
        #expect(upright < 2 || upright > 358)
    }

    @Test("true north is magnetic north and the declination")
    func knowsTrueNorth() throws {
        let outcome = try run(still(), [.init("frame", "true"), .init("declination", "10")])

        // The top points to magnetic north, which is 10 degrees east of true north.
        #expect(abs(last(outcome, "heading")[0] - 10) < 2)
        #expect(abs(last(outcome, "attitude")[6] + 10 * .pi / 180) < 0.04)
    }

    @Test("a position tells the declination, and before it true north is unknown")
    func learnsDeclination() throws {
        // Seattle in 2026: 14.96 degrees east by the model's own calculator.
        let start = 1_767_225_600.0
        var place = Made.batch("location", rate: 1, seconds: 1, from: start + 5) { _ in [47.6, -122.3] }
        place.arrival = BootInstant(nanoseconds: 0)

        let outcome = try run(still(from: start) + [place], [.init("frame", "true")])

        #expect(outcome.of("heading").first?.values[0] == .missing)
        #expect(abs(last(outcome, "heading")[0] - 14.96) < 2)
    }

    @Test(
        "the declination is that of the World Magnetic Model",
        arguments: [
            (47.6, -122.3, 2026.0, 14.960),
            (46.95, 7.45, 2025.5, 3.218),
            (-33.9, 151.2, 2027.0, 12.841),
            (0, 0, 2025.0, -4.016),
            (64.1, -21.9, 2029.0, -10.354),
            (-54.8, -68.3, 2028.5, 11.480),
            (35.7, 139.7, 2025.0, -7.874),
            (78.2, 15.6, 2026.5, 12.744),
        ]
    )
    func computesDeclination(_ latitude: Double, _ longitude: Double, _ year: Double, _ degrees: Double) throws {
        let found = WorldMagneticModel.declination(latitude: latitude, longitude: longitude, year: year)

        #expect(abs(try #require(found) * 180 / .pi - degrees) < 0.01)
    }

    @Test("an arbitrary frame begins at heading 0 wherever the device points")
    func knowsArbitraryFrames() throws {
        for frame in ["arbitrary", "corrected"] {
            let outcome = try run(still(north: Vector(-1, 0, 0)), [.init("frame", frame)])

            #expect(abs(last(outcome, "attitude")[6]) < 0.05)
        }
    }

    @Test("a gyroscope's bias is found at rest", arguments: [20.0, 50, 100, 200])
    func findsBias(_ rate: Double) throws {
        let outcome = try run(still(seconds: 30, rate: rate, turn: Vector(0.01, -0.015, 0.02)))

        #expect(last(outcome, "rotation_rate").allSatisfy { abs($0) < 0.004 })
    }

    @Test("a quarter turn about z is a quarter turn, whatever the batches", arguments: [1, 10, 150])
    func integrates(_ size: Int) throws {
        let seconds = 20.0
        let rate = Double.pi / 2
        let batches = [
            Made.batch("gyroscope", rate: 100, seconds: seconds) { time in
                [0, 0, (10..<11).contains(time) ? rate : 0.0001 * sin(time * 991)]
            },
            Made.batch("accelerometer", rate: 100, seconds: seconds) { [0.01 * sin($0 * 773), 0, 9.80665] },
        ]

        let outcome = Outcome([try AttitudeDerivation()], Made.interleaved(batches, by: size))

        #expect(abs(last(outcome, "attitude")[6] - .pi / 2) < 0.03)
    }

    @Test("accelerations in g give the same as in m/s^2")
    func knowsG() throws {
        #expect(abs(last(try run(still(scale: 1)), "gravity")[2] - 9.80665) < 0.01)
    }

    @Test("after a gap the attitude is unknown, and comes back")
    func getsOverGaps() throws {
        let outcome = try run(still() + still(from: 1_020, up: Vector(0, 1, 0), north: Vector(0, 0, -1)))

        let attitude = try #require(outcome.samples["attitude"])
        #expect(attitude.contains { $0.values[0] == .missing })
        let known = attitude.filter { $0.values[0] != .missing && $0.time > 1_020 * Made.second }
        #expect((known.first?.time ?? .max) < 1_022 * Made.second)
        // Right at once: roll of a quarter turn.
        #expect(known.allSatisfy { abs(($0.values[4].number ?? 0) - .pi / 2) < 0.05 })
    }

    @Test("a clock that was set back is got over")
    func getsOverClocks() throws {
        let before = Made.interleaved(still(from: 5_000), by: 10)
        let after = Made.interleaved(still(from: 1_000), by: 10)

        let outcome = Outcome([try AttitudeDerivation()], before + after)

        #expect((outcome.samples["attitude"]?.last?.time ?? 0) > 1_008 * Made.second)
        #expect((outcome.samples["attitude"]?.last?.time ?? 0) < 1_011 * Made.second)
    }

    @Test("rates in degrees, or a gyroscope that hangs while the device turns, give unknown and not something wrong")
    func doubtsTheGyroscope() throws {
        for wrong in [57.2958, 0.0] {
            let turning = [
                Made.batch("gyroscope", rate: 100, seconds: 30) { time in
                    time < 10 ? [0.0001 * sin(time * 991), 0, 0] : [1.2 * wrong, 0, 0]
                },
                Made.batch("accelerometer", rate: 100, seconds: 30) { time in
                    let angle = time < 10 ? 0 : 1.2 * (time - 10)
                    return [0.01 * sin(time * 773), 9.81 * sin(angle), 9.81 * cos(angle)]
                },
            ]

            let outcome = Outcome([try AttitudeDerivation()], Made.interleaved(turning, by: 10))

            let late = outcome.samples["attitude"]?.filter { $0.time > 1_014 * Made.second && $0.values[0] != .missing }
            #expect(late?.isEmpty == true)
        }
    }

    @Test("two accelerometers mixed into one stream give unknown")
    func doubtsMixedSources() throws {
        let mixed = [
            Made.batch("gyroscope", rate: 100, seconds: 20) { [0.001 * sin($0 * 991), 0, 0] },
            Made.batch("accelerometer", rate: 100, seconds: 20) { time in
                time > 10 && Int((time * 100).rounded()) % 2 == 0
                    ? [9.81, 0.01 * sin(time * 773), 0] : [0.01 * sin(time * 773), 0, 9.81]
            },
        ]

        let outcome = Outcome([try AttitudeDerivation()], Made.interleaved(mixed, by: 10))

        let late = outcome.samples["attitude"]?.filter { $0.time > 1_014 * Made.second && $0.values[0] != .missing }
        #expect(late?.isEmpty == true)
    }

    @Test("a magnet that comes near does not turn the heading, and the accuracy says that it is there")
    func withstandsMagnets() throws {
        func north(_ time: Double) -> [Double] {
            time < 20 || time > 35
                ? [0.2 * sin(time * 991), 20, -40] : [60 + 0.2 * sin(time * 991), 20, -40]
        }
        // The device turns at first, so that the field of the place becomes known.
        func angle(_ time: Double) -> Double { time < 15 ? 1.5 * time : 1.5 * 15 }
        let batches = [
            Made.batch("gyroscope", rate: 100, seconds: 40) { [0, 0.0001 * sin($0 * 991), $0 < 15 ? 1.5 : 0] },
            Made.batch("accelerometer", rate: 100, seconds: 40) { [0.01 * sin($0 * 773), 0, 9.81] },
            Made.batch("magnetometer", rate: 100, seconds: 40) { time in
                let (field, turn) = (north(time), -angle(time))
                let x = field[0] * cos(turn) - field[1] * sin(turn)
                let y = field[0] * sin(turn) + field[1] * cos(turn)
                return [x, y, field[2]]
            },
        ]

        let outcome = Outcome([try AttitudeDerivation()], Made.interleaved(batches, by: 10))

        let headings = outcome.of("heading").filter { $0.time > 1_019 * Made.second }
        let first = try #require(headings.first?.values[0].number)
        #expect(headings.allSatisfy { abs(($0.values[0].number ?? 999) - first) < 4 })
        let near = outcome.of("magnetic_field").filter { $0.time / Made.second == 1_030 }
        #expect(near.allSatisfy { $0.values[3] == .integer(1) } && !near.isEmpty)
        #expect(outcome.samples["magnetic_field"]?.last?.values[3] == .integer(3))
    }

    @Test("a magnetometer that hangs while the device turns does not drag the heading along, and is told")
    func doubtsTheMagnetometer() throws {
        let batches = [
            Made.batch("gyroscope", rate: 100, seconds: 40) { [0, 0.0001 * sin($0 * 991), $0 < 10 ? 0 : 0.3] },
            Made.batch("accelerometer", rate: 100, seconds: 40) { [0.01 * sin($0 * 773), 0, 9.81] },
            Made.batch("magnetometer", rate: 50, seconds: 40) { time in
                time < 10 ? [0.2 * sin(time * 991), 20, -40] : [0, 20, -40]
            },
        ]

        let outcome = Outcome([try AttitudeDerivation()], Made.interleaved(batches, by: 10))

        let turned = last(outcome, "attitude")[6]
        let right = (0.3 * 30).remainder(dividingBy: 2 * .pi)
        #expect(abs((turned - right).remainder(dividingBy: 2 * .pi)) < 0.15)
        #expect(outcome.of("heading").last.map { $0.time < 1_015 * Made.second } == true)
    }

    @Test("beside a strong magnet the inclination stays known, and no heading is claimed")
    func survivesStrongMagnets() throws {
        var batches = still(seconds: 20)
        batches[2] = Made.batch("magnetometer", rate: 100, seconds: 20) { [300 + 0.2 * sin($0 * 991), 20, -40] }

        let outcome = try run(batches)

        #expect(last(outcome, "attitude").allSatisfy { $0.isFinite })
        #expect(last(outcome, "heading").allSatisfy { $0.isNaN })
        #expect(try last(run(batches, [.init("frame", "magnetic")]), "attitude").isEmpty)
    }
}
