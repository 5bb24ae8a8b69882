import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import Derivations

@Suite("Shakes, faces and activity")
struct GestureTests {
    private func outcome(_ kind: String, _ batches: [SampleBatch]) throws -> Outcome {
        Outcome([try DerivationCatalog.make(kind)], batches)
    }

    private func shaken(rate: Double, seconds: Double, scale: Double = 1) -> SampleBatch {
        Made.batch("accelerometer", rate: rate, seconds: 8 + seconds) { time in
            let isShaken = (4..<4 + seconds).contains(time)
            let push = isShaken ? (sin(2 * .pi * 4 * time) > 0 ? 25.0 : -25) : 0
            return [push * scale, 0.02 * sin(time * 217) * scale, 9.81 * scale]
        }
    }

    @Test("a shake begins and ends, at every rate and in g too", arguments: [25.0, 50, 100, 200], [1, 1 / 9.80665])
    func findsShakes(_ rate: Double, _ scale: Double) throws {
        let found = try outcome("shake", [shaken(rate: rate, seconds: 1, scale: scale)])

        #expect(found.words("shake") == ["began", "ended"])
        #expect(found.total("shakes") == 1)
    }

    @Test("what goes on for long, or breaks off, is cancelled")
    func cancelsShakes() throws {
        #expect(try outcome("shake", [shaken(rate: 50, seconds: 10)]).words("shake") == ["began", "cancelled"])
        let whole = shaken(rate: 50, seconds: 3)
        var cut = SampleBatch(whole.stream, arrival: whole.arrival)
        for row in 0..<250 { cut.append(time: whole.times[row], Array(whole.sample(row))) }
        let later = Made.batch("accelerometer", rate: 50, seconds: 3, from: 1_100) { _ in [0, 0, 9.81] }
        #expect(try outcome("shake", [cut, later]).words("shake") == ["began", "cancelled"])
    }

    @Test("nobody who walks shakes", .enabled(if: Recordings.isAvailable))
    func walksAreNone() throws {
        for walk in ["user2_backpocket_1506422483834", "user1_frontpocket_1506422223341"] {
            #expect(try outcome("shake", try Recording.walk(walk)).words("shake").isEmpty)
        }
    }

    @Test("six faces are known, and between two the one before stays")
    func knowsFaces() throws {
        let ups: [[Double]] = [
            [0, 0, 9.81], [0, 6.9, 7], [0, 9.81, 0], [9.81, 0, 0], [0, -9.81, 0], [-9.81, 0, 0], [0, 0, -9.81],
        ]
        let batch = Made.batch("accelerometer", rate: 50, seconds: 14) { ups[Int($0 / 2)] }

        #expect(
            try outcome("orientation", [batch]).words("orientation") == [
                "face_up", "portrait", "landscape_left", "portrait_upside_down", "landscape_right", "face_down",
            ]
        )
    }

    @Test("after a gap, or in a unit that is not known, no face is claimed")
    func claimsNoFace() throws {
        let known = Made.batch("accelerometer", rate: 50, seconds: 3) { _ in [0, 0, 9.81] }
        let later = Made.batch("accelerometer", rate: 50, seconds: 0.2, from: 1_050) { _ in [0, 0, 9.81] }
        let raw = Made.batch("accelerometer", rate: 50, seconds: 3) { _ in [0, 0, 16_384] }

        #expect(try outcome("orientation", [known, later]).words("orientation") == ["face_up", "unknown"])
        #expect(try outcome("orientation", [raw]).words("orientation").isEmpty)
    }

    @Test("still, walking and driving are told apart", .enabled(if: Recordings.isAvailable))
    func knowsActivities() throws {
        func main(_ found: Outcome) -> String? { found.words("activity").last }
        let still = Made.batch("accelerometer", rate: 50, seconds: 40) { [0.02 * sin($0 * 217), 0, 9.81] }
        let driven = Made.batch("accelerometer", rate: 50, seconds: 40) {
            [0.5 * sin($0 * 97), 0.4 * sin($0 * 53), 9.81]
        }
        let speed = Made.batch("location", rate: 1, seconds: 40) { [47, 8 + $0 / 5_000, 400, 5, 15, 90] }

        #expect(main(try outcome("activity", [still])) == "still")
        #expect(main(try outcome("activity", Made.interleaved([driven, speed], by: 20))) == "vehicle")
        let walk = try outcome("activity", try Recording.walk("user2_hand_1506421987098"))
        #expect(walk.words("activity").filter { $0 == "walking" }.count > 15)
        #expect(!walk.words("activity").contains("running"))
    }
}
