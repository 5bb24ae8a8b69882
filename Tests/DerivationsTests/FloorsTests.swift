import Diagnostics
import Foundation
import Samples
import Testing

@testable import Derivations

@Suite("Floors")
struct FloorsTests {
    /// Pressure and accelerations of a way: its height and whether steps are made, by the time.
    private func way(
        seconds: Double,
        drift: Double = 1,
        unit: Double = 1,
        height: @escaping (Double) -> Double,
        isWalking: @escaping (Double) -> Bool = { _ in true }
    ) -> [SampleBatch] {
        var chance = Chance(4)
        let pressure = Made.batch("pressure", rate: 5, seconds: seconds) { time in
            let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0...1, using: &chance) }
            let metres = height(time) + 0.3 * noise
            return [(1013.25 * pow(1 - metres / 44_330.77, 1 / 0.190263) + drift * time / 3_600) * unit]
        }
        let walk = Made.batch("accelerometer", rate: 25, seconds: seconds) { time in
            isWalking(time) ? Made.walking(time) : [0, 0.05 * sin(time * 217), 9.81]
        }
        return Made.interleaved([pressure, walk], by: 25)
    }

    private func floors(_ batches: [SampleBatch]) throws -> [Double] {
        let outcome = Outcome([try FloorsDerivation()], batches)
        return [outcome.total("floors_ascended"), outcome.total("floors_descended")]
    }

    /// So many floors of 3 m at 0.3 m/s, with landings of two seconds, after 40 s of level ground.
    private func stairs(_ number: Int) -> (Double) -> Double {
        { time in
            let since = max(0, time - 40)
            let floor = min(Double(number), (since / 12).rounded(.down))
            let within = floor < Double(number) ? min(3, 0.3 * (since - floor * 12)) : 0
            return floor * 3 + within
        }
    }

    @Test("floors are counted exactly, with noise and weather", arguments: 1...10)
    func countsExactly(_ number: Int) throws {
        let seconds = 80 + Double(number) * 12

        #expect(try floors(way(seconds: seconds, height: stairs(number))) == [Double(number), 0])
        let down = way(seconds: seconds, height: { time in -stairs(number)(time) })
        #expect(try floors(down) == [0, Double(number)])
    }

    @Test("kPa and Pa are understood", arguments: [0.1, 100])
    func knowsUnits(_ unit: Double) throws {
        #expect(try floors(way(seconds: 120, unit: unit, height: stairs(3))) == [3, 0])
    }

    @Test("a lift counts nothing")
    func ignoresLifts() throws {
        let lift = way(seconds: 120, height: { min(24, max(0, $0 - 45)) }, isWalking: { $0 < 40 || $0 > 75 })

        #expect(try floors(lift) == [0, 0])
    }

    @Test("doors and weather count nothing on a walk")
    func ignoresDoors() throws {
        let doors = way(seconds: 600, drift: 3) { time in
            switch time {
            case 60..<63, 100..<101: 4
            case 200..<260: -4
            default: 0
            }
        }

        #expect(try floors(doors) == [0, 0])
    }

    @Test("the steps of a pedometer are enough, without an accelerometer")
    func takesSteps() throws {
        let pressure = way(seconds: 120, height: stairs(3)).filter { $0.stream.name.text == "pressure" }
        let steps = Made.batch("steps", rate: 1.7, seconds: 120) { [($0 * 1.7).rounded()] }

        let outcome = Outcome([try FloorsDerivation()], Made.interleaved(pressure + [steps], by: 5))

        #expect(outcome.total("floors_ascended") == 3)
    }
}
