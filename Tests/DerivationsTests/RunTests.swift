import Diagnostics
import GPSDSamplers
import Samples
import TestKit
import Testing

@testable import Derivations

@Suite("Run tracker")
struct RunTests {
    /// Walks, stands and walks on along a line, with noise on the place and on the speed.
    private func walk(
        _ phases: [(seconds: Int, speed: Double)],
        noise: Double = 0,
        drift: Double = 0,
        doppler: Double? = nil,
        accuracy: Double? = nil,
        seed: UInt64 = 1
    ) throws -> Bench {
        var bench = try Bench("run")
        var chance = Chance(seed)
        var (way, second) = (0.0, 0)
        var (wanderEast, wanderNorth) = (0.0, 0.0)
        for phase in phases {
            for _ in 0..<phase.seconds {
                second += 1
                way += phase.speed
                // A first-order wander with a time constant of 20 s.
                wanderEast = 0.951 * wanderEast + 0.309 * drift * chance.normal()
                wanderNorth = 0.951 * wanderNorth + 0.309 * drift * chance.normal()
                bench.fix(
                    Double(second),
                    way + wanderEast + noise * chance.normal(),
                    wanderNorth + noise * chance.normal(),
                    accuracy: accuracy,
                    speed: doppler.map { abs(phase.speed + $0 * chance.normal()) }
                )
            }
        }
        bench.finish()
        return bench
    }

    private func run(_ bench: inout Bench, _ samples: [TrackSample]) {
        for sample in samples {
            bench.add(sample.stream, Double(sample.time.nanoseconds) * 1e-9 - Bench.start, sample.values)
        }
        bench.finish()
    }

    @Test(
        "the distance is that of gpxpy to 1 %",
        .enabled(if: Recordings.isAvailable),
        arguments: [
            ("korita-zbevnica.gpx", 14_913.7), ("track-with-empty-segment.gpx", 85.9),
            ("track-with-extremes.gpx", 2_206.0),
            ("track-with-less-sec-time.gpx", 1.6),
        ]
    )
    func agreesWithPeer(_ name: String, _ metres: Double) throws {
        var bench = try Bench("run")
        run(&bench, GPXDecoder().decode(try Recordings.bytes("gpx/\(name)"), isLast: true))

        let distance = try #require(bench.total("distance_m"))
        // The peer's figures are rounded to a tenth.
        #expect(abs(distance - metres) <= 0.01 * metres + 0.05)
    }

    @Test("ten minutes of standing with 3 m of noise add at most 5 m", arguments: 1...10)
    func countsNoNoise(_ seed: UInt64) throws {
        let still = [(seconds: 600, speed: 0.0)]

        #expect(try walk(still, noise: 3, seed: seed).total("distance_m") ?? 99 <= 5)
        #expect(try walk(still, drift: 3, seed: seed).total("distance_m") ?? 99 <= 5)
        #expect(try walk(still, noise: 3, doppler: 0.2, accuracy: 5, seed: seed).total("distance_m") ?? 99 <= 5)
        // A speed that a source made from the noise.
        #expect(try walk(still, noise: 3, doppler: 4, seed: seed).total("distance_m") ?? 99 <= 5)
    }

    @Test("a rest within a walk is one pause, and the distance is that of the walk", arguments: 1...5)
    func pauses(_ seed: UInt64) throws {
        let phases = [(seconds: 300, speed: 1.4), (seconds: 600, speed: 0.0), (seconds: 300, speed: 1.4)]
        for (noise, drift, doppler) in [(0.1, 0.0, nil), (3, 0, nil), (3, 0, 0.2), (0.2, 3, nil)]
            as [(Double, Double, Double?)]
        {
            let bench = try walk(phases, noise: noise, drift: drift, doppler: doppler, accuracy: 5, seed: seed)

            let distance = try #require(bench.total("distance_m"))
            #expect(abs(distance - 840) < 0.06 * 840, "\(noise) \(drift)")
            #expect(bench.texts("run", 0) == ["start", "pause", "resume", "stop"])
            #expect(abs((bench.total("moving_s") ?? 0) - 600) < 40)
            #expect(abs((bench.total("duration_s") ?? 0) - 1_199) < 1)
        }
    }

    @Test("a speed that stays 0 does not stop a walk")
    func distrustsSpeed() throws {
        var bench = try Bench("run")
        for second in 0..<300 { bench.fix(Double(second), Double(second) * 1.4, 0, speed: 0) }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 299 * 1.4) < 2)
        #expect(!bench.texts("run", 0).contains("pause"))
    }

    @Test("a gap bridges nothing")
    func bridgesNoGaps() throws {
        var bench = try Bench("run")
        for second in 0..<100 { bench.fix(Double(second), Double(second) * 3, 0) }
        for second in 200..<300 { bench.fix(Double(second), Double(second) * 3, 0) }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 2 * 99 * 3) < 1)
        #expect(bench.total("duration_s") == 198)
        #expect(bench.texts("run", 0) == ["start", "gap", "stop"])
    }

    @Test("a manual pause bridges nothing, whatever one does meanwhile")
    func holds() throws {
        var bench = try Bench("run")
        for second in 0..<300 {
            if second == 100 { bench.add("run.control", fields: ["command"], Double(second), [.text("pause")]) }
            if second == 200 { bench.add("run.control", fields: ["command"], Double(second), [.text("resume")]) }
            bench.fix(Double(second), Double(second) * 3, 0)
        }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 2 * 99 * 3) < 1)
        #expect(bench.texts("run", 0) == ["start", "pause", "resume", "stop"])
    }

    @Test("a wild fix adds nothing, a jump that stays is a gap, and what follows counts")
    func rejectsJumps() throws {
        var bench = try Bench("run")
        for second in 0..<100 { bench.fix(Double(second), Double(second) * 3, second % 10 == 5 ? 800 : 0) }
        for second in 100..<200 { bench.fix(Double(second), Double(second) * 3, 5_000) }
        bench.finish()

        let distance = try #require(bench.total("distance_m"))
        #expect(distance > 99 * 3 + 90 * 3)
        #expect(distance < 199 * 3 + 1)
    }

    @Test("two sources mixed: the second one is ignored")
    func ignoresSecondSource() throws {
        var bench = try Bench("run")
        for second in 0..<200 {
            bench.fix(Double(second), Double(second) * 3, 0)
            bench.fix(Double(second) + 0.95, Double(second) * 3, 3_000)
        }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 199 * 3) < 3)
    }

    @Test("late fixes do not count, and a clock that was set back is followed")
    func ordersTimes() throws {
        var bench = try Bench("run")
        for second in 0..<100 {
            bench.fix(Double(second), Double(second) * 3, 0)
            if second % 10 == 9 { bench.fix(Double(second) - 5, 0, 0) }
        }
        for second in 0..<100 { bench.fix(Double(second) - 5_000, 300 + Double(second) * 3, 0) }
        bench.finish()

        let distance = try #require(bench.total("distance_m"))
        #expect(distance > 99 * 3 + 75 * 3)
        #expect(distance < 199 * 3 + 1)
    }

    @Test("a backlog that arrives at once is late, however long it is")
    func ignoresBacklog() throws {
        var bench = try Bench("run")
        for second in 0..<100 {
            bench.add(
                Fixes.stream,
                Double(second),
                Fixes.values(Double(second) * 3, 0),
                arrival: 1_000 + Double(second)
            )
        }
        for second in 0..<500 {
            bench.add(Fixes.stream, Double(second) - 5_000, Fixes.values(Double(second) * 3, 0), arrival: 1_100)
        }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 99 * 3) < 1)
    }

    @Test("inexact and wild fixes, NaN and fixes at 10 Hz do no harm")
    func filters() throws {
        var bench = try Bench("run", [("accuracy", "30")])
        var chance = Chance(5)
        for tenth in 0..<3_000 {
            let second = Double(tenth) / 10
            bench.fix(second, second * 3 + 0.3 * chance.normal(), 0.3 * chance.normal(), accuracy: 5)
            if tenth % 7 == 0 { bench.fix(second + 0.01, 9, 9, accuracy: 80) }
            if tenth % 11 == 0 {
                bench.add(Fixes.stream, second, [.missing, .real(8), .missing, .missing, .missing, .missing])
            }
        }
        bench.finish()

        #expect(abs((bench.total("distance_m") ?? 0) - 300 * 3) < 0.02 * 900)
    }

    @Test("splits are told with the time of moving, and the session with date, kilometres and time")
    func tellsSplits() throws {
        var bench = try Bench("run")
        for second in 0...900 { bench.fix(Double(second), Double(second) * 3, 0) }
        bench.finish()

        let splits = try #require(bench.given["run.split"])
        #expect(splits.count == 2)
        #expect(splits.map { $0.values[0] } == [.integer(1), .integer(2)])
        for split in splits { #expect(abs((split.values[2].number ?? 0) - 1_000 / 3) < 1) }
        #expect(abs(splits[0].seconds - 333.3) < 1)
        let session = try #require(bench.given["run.session"]?.first?.values)
        #expect(session[0] == .text("2020-09-13T12:26:40Z"))
        #expect(abs((session[1].number ?? 0) - 2.7) < 0.001)
        #expect(session[2] == .real(900))
    }

    @Test("climb counts hills and not noise")
    func climbs() throws {
        var meter = ClimbMeter()
        for step in 0..<400 { meter.add(100 + 50 * (1 - abs(Double(step % 200) - 100) / 100) + 0.2 * Double(step % 2)) }
        meter.close()

        #expect(abs(meter.up - 100) < 6)
        #expect(abs(meter.down - 100) < 6)
    }

    @Test("a run goes on after a restart, without what lay between")
    func survivesRestart() throws {
        var bench = try Bench("run")
        for second in 0...200 { bench.fix(Double(second), Double(second) * 3, 0) }
        let state = try #require(bench.derivation.state)

        var next = try Bench("run")
        next.derivation.restore(state)
        for second in 300...400 { next.fix(Double(second), Double(second) * 3, 0) }
        next.finish()

        let distance = try #require(next.total("distance_m"))
        #expect(distance > 800)
        #expect(distance < 901)
    }

    @Test("memory stays bounded over a day of standing and going")
    func staysBounded() throws {
        var tracker = RunTracker()
        for second in 0..<86_400 {
            let way = Double(second / 600 % 2) * Double(second % 600)
            guard let place = Fixes.origin?.moved(east: way, north: 0) else { continue }
            _ = tracker.add(LocationFix(time: Int64(second) * 1_000_000_000, place: place)) { _ in }
            #expect(tracker.waiting <= 64)
        }
    }
}
