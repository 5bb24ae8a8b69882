import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import Derivations

@Suite("Geofences")
struct GeofenceTests {
    private func bench(_ radius: Double = 50, dwell: String = "20") throws -> Bench {
        try Bench("geofence", [("fence", "home,47,8,\(radius)"), ("dwell", dwell)])
    }

    private func events(_ bench: Bench) -> [String] {
        zip(bench.texts("geofence", 1), bench.texts("geofence", 0)).map { "\($0) \($1)" }
    }

    @Test(
        "the flapping that a phone at rest recorded gives one enter and no leave",
        .enabled(if: Recordings.isAvailable)
    )
    func survivesFlapping() throws {
        var bench = try bench()
        for line in try Recordings.text("geofence/tracelet294_real_flap.jsonl").split(whereSeparator: \.isNewline) {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard let text = object["t"] as? String, let distance = object["dist_m"] as? Double else { continue }
            let parts = text.split(separator: ":").compactMap { Double($0) }
            bench.fix(parts[0] * 3_600 + parts[1] * 60 + parts[2], distance, 0, accuracy: object["acc_m"] as? Double)
        }

        #expect(events(bench) == ["enter home"])
        #expect(bench.total("enters") == 1)
        #expect(bench.total("leaves") == 0)
    }

    @Test("a leave is told 20 s and at most one interval after it", arguments: [1.0, 7.0, 30.0])
    func tellsLeaving(_ interval: Double) throws {
        var bench = try bench()
        var time = 0.0
        while time < 600 {
            // Goes out at 300 s, 10 m/s.
            bench.fix(time, max(0, (time - 300) * 10), 0, accuracy: 5)
            time += interval
        }

        #expect(events(bench) == ["enter home", "leave home"])
        // 75 m are left behind 7.5 s after 300 s.
        let told = try #require(bench.given["geofence"]?.last?.seconds)
        #expect(told >= 327.5)
        #expect(told <= 307.5 + max(20, interval) + interval)
    }

    @Test("walking through in less than the dwell is no visit")
    func ignoresPassing() throws {
        var bench = try bench()
        for second in 0..<200 { bench.fix(Double(second), Double(second) * 8 - 800, 0) }

        #expect(events(bench).isEmpty)
    }

    @Test("walking along the edge gives no flapping")
    func holdsAtTheEdge() throws {
        var bench = try bench()
        var chance = Chance(7)
        for second in 0..<3_600 {
            bench.fix(Double(second), 50 + 4 * chance.normal(), 4 * chance.normal(), accuracy: 6)
        }

        #expect(events(bench).count <= 1)
    }

    @Test("fixes with a large radius, too fast, late or doubled tell nothing")
    func ignoresBadFixes() throws {
        var bench = try bench()
        for second in 0..<60 { bench.fix(Double(second), 0, 0) }
        for second in 60..<120 {
            bench.fix(Double(second), 300, 0, accuracy: 150)
        }
        // A place 20 km away, for one fix at a time.
        for second in 120..<180 { bench.fix(Double(second), second % 2 == 0 ? 20_000 : 0, 0) }
        // Fixes of before, out of their order, and the newest again and again.
        for second in 0..<15 { bench.fix(Double(30 - second), 500, 0) }
        for _ in 0..<50 { bench.fix(10, 500, 0) }

        #expect(events(bench) == ["enter home"])
    }

    @Test("NaN, 0, 0 and places beyond the pole tell nothing, and the watch goes on")
    func ignoresNonsense() throws {
        var bench = try bench()
        for second in 0..<60 { bench.fix(Double(second), 0, 0) }
        for second in 60..<120 {
            let values: [Value] = [.missing, .real(8), .missing, .missing, .missing, .missing]
            bench.add(Fixes.stream, Double(second), values)
            bench.add(Fixes.stream, Double(second), [.real(0), .real(0)] + values[2...])
            bench.add(Fixes.stream, Double(second), [.real(91), .real(8)] + values[2...])
        }
        for second in 120..<200 { bench.fix(Double(second), 400, 0) }

        #expect(events(bench) == ["enter home", "leave home"])
    }

    @Test("each region has its own state, also where they overlap")
    func keepsRegionsApart() throws {
        var bench = try Bench(
            "geofence",
            [("fence", "inner,47,8,50"), ("fence", "a, b,47,8,500"), ("fence", "far,48,8,50")]
        )
        for second in 0..<60 { bench.fix(Double(second), 0, 0) }
        for second in 60..<160 { bench.fix(Double(second), 200, 0) }

        #expect(events(bench).sorted() == ["enter a, b", "enter inner", "leave inner"])
    }

    @Test("after a restart nothing is told again, and a leave in between is told")
    func survivesRestart() throws {
        var bench = try bench()
        for second in 0..<60 { bench.fix(Double(second), 0, 0) }
        let state = try #require(bench.derivation.state)

        var next = try self.bench()
        next.derivation.restore(state)
        for second in 100..<160 { next.fix(Double(second), 0, 0) }
        #expect(events(next).isEmpty)
        for second in 200..<260 { next.fix(Double(second), 300, 0) }
        #expect(events(next) == ["leave home"])

        var broken = try self.bench()
        for cut in 0...state.count { broken.derivation.restore(Array(state.prefix(cut))) }
        broken.derivation.restore(Array(repeating: 0xFF, count: 100))
    }

    @Test("what a phone says about a region counts once, in the order of its times, and never its place")
    func mergesTransitions() throws {
        var bench = try bench()
        let fields = ["region", "event"]
        func tell(_ seconds: Double, _ region: String, _ event: String) {
            bench.add("geofence.owntracks", fields: fields, seconds, [.text(region), .text(event)])
        }
        tell(10, "home", "enter")
        tell(10, "home", "enter")
        for second in 20..<60 { bench.fix(Double(second), 0, 0) }
        tell(5, "home", "leave")
        tell(70, "work", "enter")
        tell(65, "work", "leave")
        tell(80, "home", "leave")

        #expect(events(bench) == ["enter home", "enter work", "leave home"])
    }

    @Test("circles across the date line, near a pole and of any size are found")
    func findsAnywhere() throws {
        for (latitude, longitude, radius) in [
            (0.0, 179.999, 500.0), (-16.0, -179.999, 500), (89.5, 10, 5_000), (60, 25, 100_000), (0.001, -0.001, 20),
            (-84.9, 100, 900),
        ] {
            let middle = try #require(GeoPosition(latitude: latitude, longitude: longitude))
            let circle = try #require(GeofenceCircle(name: "x", middle: middle, radius: radius))
            let grid = GeofenceGrid([circle])
            for step in 0..<360 {
                let angle = Double(step) * .pi / 180
                let edge = middle.moved(east: 0.99 * radius * sin(angle), north: 0.99 * radius * cos(angle))
                guard let edge, middle.distance(to: edge) <= radius else { continue }
                var found = 0
                grid.forEach(at: edge) { _ in found += 1 }
                #expect(found == 1, "\(latitude) \(longitude) \(step)")
            }
        }
    }

    @Test("the grid changes nothing: many circles tell what each alone would tell")
    func agreesWithSingles() throws {
        var chance = Chance(3)
        var fences: [(String, String)] = []
        for number in 0..<80 {
            let latitude = 47 + Double.random(in: -0.02...0.02, using: &chance)
            let longitude = 8 + Double.random(in: -0.02...0.02, using: &chance)
            fences.append(
                ("fence", "f\(number),\(latitude),\(longitude),\(Double.random(in: 20...2_000, using: &chance))")
            )
        }
        var all = try Bench("geofence", fences)
        var singles = try fences.map { try Bench("geofence", [$0]) }
        var (east, north) = (0.0, 0.0)
        for second in 0..<800 {
            east += 12 * sin(Double(second) / 90)
            north += 12 * cos(Double(second) / 210)
            all.fix(Double(second), east, north)
            for place in singles.indices { singles[place].fix(Double(second), east, north) }
        }

        let apart = singles.flatMap { single in (single.given["geofence"] ?? []).map { "\($0)" } }
        #expect(Set((all.given["geofence"] ?? []).map { "\($0)" }) == Set(apart))
        #expect(apart.count > 10)
    }

    @Test(
        "settings that are wrong are refused",
        arguments: ["home", "home,47,8", "home,x,8,50", "home,47,8,0", "home,95,8,50", ",47,8,50", "home,47,8,nan"]
    )
    func refusesSettings(_ text: String) {
        #expect(throws: DerivationError.self) { try Bench("geofence", [("fence", text)]) }
    }
}
