import Diagnostics
import Foundation
import ReplaySamplers
import Samples
import TestKit
import Testing

@testable import Derivations

@Suite("Steps")
struct StepsTests {
    @Test(
        "walks of people are counted within 3 % wherever the phone is carried",
        .enabled(if: Recordings.isAvailable),
        arguments: [
            ("user1_armband_1506423438471", 335.0), ("user1_bag_1506423095164", 346),
            ("user1_frontpocket_1506422223341", 327), ("user2_backpocket_1506422483834", 337),
            ("user2_hand_1506421987098", 340), ("user2_neckpouch_1506423094931", 360),
        ]
    )
    func countsWalks(_ name: String, _ truth: Double) throws {
        let outcome = Outcome([try StepsDerivation()], try Recording.walk(name))

        #expect(abs(outcome.total("steps") - truth) <= 0.03 * truth)
    }

    @Test(
        "nothing is counted at a desk",
        .enabled(if: Recordings.isAvailable),
        arguments: ["rieck_l2-25hz-bw2_pc-working1.csv", "rieck_l2-25hz-bw4_desk-working1.csv"]
    )
    func countsNothingAtADesk(_ name: String) throws {
        let batches = try Recording.batches(try Recording.path("pedometer", name)) {
            $0.columns = ["-", "a", "-", "-"]
            $0.rate = 25
        }

        #expect(Outcome([try StepsDerivation()], batches).total("steps") <= 10)
    }

    @Test("the result does not depend on how samples are put into batches")
    func doesNotDependOnBatches() throws {
        let walk = Made.batch("accelerometer", rate: 50, seconds: 60) { Made.walking($0) }

        let whole = Outcome([try StepsDerivation()], [walk])
        let single = Outcome([try StepsDerivation()], Made.interleaved([walk], by: 1))

        #expect(whole.samples["steps"]?.map(\.time) == single.samples["steps"]?.map(\.time))
        #expect(whole.total("steps") == single.total("steps"))
        #expect(abs(whole.total("steps") - 108) <= 3)
    }

    @Test("steps are given out within 7 s of the first, and then each within 2 s", arguments: [20.0, 50, 100, 200])
    func isTimely(_ rate: Double) throws {
        var steps = try StepsDerivation()
        var output = DerivedSamples(steps.outputs)
        let walk = Made.batch("accelerometer", rate: rate, seconds: 30) { Made.walking($0) }
        var delays: [Int64] = []
        for piece in Made.interleaved([walk], by: 1) {
            steps.receive(piece, into: &output)
            for batch in output.take() where batch.stream.name.text == "steps" {
                delays += batch.times.map { piece.times[0].nanoseconds - $0.nanoseconds }
            }
        }

        #expect(delays.count >= 48)
        #expect(delays.allSatisfy { $0 >= 0 })
        #expect(delays.max() ?? .max < 7 * Made.second)
        #expect(delays.dropFirst(20).allSatisfy { $0 < 2 * Made.second })
    }

    @Test("times of steps only grow, also over pauses")
    func timesGrow() throws {
        let walk = Made.batch("accelerometer", rate: 50, seconds: 120) { time in
            Int(time / 12) % 2 == 0 ? Made.walking(time) : [0.05 * sin(time * 217), 0, 9.81]
        }

        let times = Outcome([try StepsDerivation()], [walk]).samples["steps"]?.map(\.time) ?? []

        #expect(times.count > 90)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("a pause and the walk after it are told, and the pause is not in the active time")
    func tellsPauses() throws {
        let walk = Made.batch("accelerometer", rate: 50, seconds: 60) { time in
            time < 20 || time > 40 ? Made.walking(time) : [0.05 * sin(time * 217), 0, 9.81]
        }

        let outcome = Outcome([try StepsDerivation()], [walk])

        #expect(outcome.words("pedometer") == ["resume", "pause", "resume"])
        guard case .real(let active)? = outcome.samples["pedometer"]?.last?.values[1] else {
            Issue.record("there is no active time")
            return
        }
        #expect(abs(active - 20) < 1.5)
        #expect(outcome.samples["steps"]?.contains { $0.values[1] == .real(0) } == true)
    }

    @Test("a clock that was set back, a gap and another unit are got over")
    func getsOver() throws {
        func walk(from: Double, scale: Double = 1) -> SampleBatch {
            Made.batch("accelerometer", rate: 50, seconds: 60, from: from) { Made.walking($0).map { $0 * scale } }
        }

        let outcome = Outcome(
            [try StepsDerivation()],
            [walk(from: 5_000), walk(from: 1_000), walk(from: 9_000), walk(from: 9_060, scale: 1 / 9.80665)]
        )

        #expect(abs(outcome.total("steps") - 4 * 108) <= 25)
    }

    @Test("samples that come late make no steps")
    func ignoresLateSamples() throws {
        let now = Made.batch("accelerometer", rate: 50, seconds: 5, from: 2_000) { _ in [0, 0, 9.81] }
        var late = SampleBatch(now.stream, arrival: now.arrival)
        let walk = Made.batch("accelerometer", rate: 50, seconds: 0.9, from: 1_000) { Made.walking($0) }
        for row in 0..<walk.count { late.append(time: walk.times[row], Array(walk.sample(row))) }

        #expect(Outcome([try StepsDerivation()], [now, late]).total("steps") == 0)
    }

    @Test("brushing teeth, an engine and stuck values are no steps")
    func knowsWhatIsNone() throws {
        func steps(_ value: @escaping (Double) -> [Double]) throws -> Double {
            let batch = Made.batch("accelerometer", rate: 50, seconds: 120, value)
            return Outcome([try StepsDerivation()], [batch]).total("steps")
        }

        #expect(try steps { [6 * sin(2 * .pi * 4.5 * $0), 2 * sin(2 * .pi * 9 * $0), 9.81] } == 0)
        #expect(try steps { [0, 0, 9.81 + 3 * sin(2 * .pi * 12 * $0)] } == 0)
        #expect(try steps { _ in [1, 2, 9] } == 0)
        #expect(try steps { _ in [0, 0, 0] } == 0)
    }

    @Test("totals go on after a restart")
    func keepsTotals() throws {
        let walk = Made.batch("accelerometer", rate: 50, seconds: 60) { Made.walking($0) }
        var first = try StepsDerivation()
        var output = DerivedSamples(first.outputs)
        first.receive(walk, into: &output)
        var second = try StepsDerivation()

        second.restore(try #require(first.state))
        second.restore(Array("-5 nan".utf8))

        #expect(second.summary.map(\.value).prefix(2) == first.summary.map(\.value).prefix(2))
    }

    @Test("a taller person goes farther with the same steps, and pace is time by distance")
    func measuresDistance() throws {
        let walk = Made.batch("accelerometer", rate: 50, seconds: 60) { Made.walking($0) }

        let short = Outcome([try StepsDerivation(DerivationSettings([.init("height", "1.5")]))], [walk])
        let tall = Outcome([try StepsDerivation(DerivationSettings([.init("height", "2.0")]))], [walk])

        #expect(abs(tall.total("distance_m") / short.total("distance_m") - 2.0 / 1.5) < 1e-9)
        #expect((60...90).contains(short.total("distance_m") / 1.5 * 1.7))
        #expect(abs(short.total("active_pace_s_m") * short.total("distance_m") - 59.5) < 2)
    }
}
