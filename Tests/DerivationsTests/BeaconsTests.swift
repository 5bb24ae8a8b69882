import Diagnostics
import Glibc
import Samples
import Testing

@testable import Derivations

@Suite("Beacons")
struct BeaconsTests {
    private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let stream = Stream(
        Name(mapping: "beacon"),
        fields: KnownStreams.fields(of: Name(mapping: "beacon")) ?? []
    )

    private func sight(
        _ bench: inout Bench,
        _ seconds: Double,
        minor: Int64 = 0,
        rssi: Value,
        power: Value = .real(-59)
    ) {
        bench.add(
            BeaconsTests.stream,
            seconds,
            [.text(BeaconsTests.uuid), .integer(100), .integer(minor), rssi, power]
        )
    }

    /// Adverts with a noise of 6 dB in a room with that loss.
    private func rssi(_ metres: Double, _ chance: inout Chance, loss: Double = 2) -> Value {
        .real((-59 - 10 * loss * log10(metres) + 6 * chance.normal()).rounded())
    }

    @Test(
        "the class is right in 95 of 100 seconds at 0.2, 2 and 8 m with 6 dB of noise",
        arguments: [(0.2, "immediate"), (2.0, "near"), (8.0, "far")],
        [1.0, 3.0, 10.0]
    )
    func classifies(_ place: (metres: Double, proximity: String), _ rate: Double) throws {
        var right = 0
        var all = 0
        for seed in 1...10 {
            var bench = try Bench("beacons")
            var chance = Chance(UInt64(seed))
            for step in 0..<Int(120 * rate) { sight(&bench, Double(step) / rate, rssi: rssi(place.metres, &chance)) }
            let said = bench.texts("beacons", 1)
            all += said.count
            right += said.count { $0 == place.proximity }
            let changes = zip(said, said.dropFirst()).count { $0 != $1 }
            #expect(changes <= 2)
        }

        #expect(all >= 1_100)
        #expect(Double(right) >= 0.95 * Double(all), "\(right) of \(all)")
    }

    @Test("at rest on the border of two classes the class changes at most once a minute")
    func holdsOnTheBorder() throws {
        var changes = 0
        for seed in 1...10 {
            var bench = try Bench("beacons")
            var chance = Chance(UInt64(seed))
            for second in 0..<600 { sight(&bench, Double(second), rssi: rssi(4, &chance)) }
            let said = bench.texts("beacons", 1)
            changes += zip(said, said.dropFirst()).count { $0 != $1 }
        }

        #expect(changes <= 100)
    }

    @Test("someone who comes near is near within some seconds")
    func follows() throws {
        var bench = try Bench("beacons")
        var chance = Chance(4)
        for second in 0..<60 { sight(&bench, Double(second), rssi: rssi(8, &chance)) }
        for second in 60..<90 { sight(&bench, Double(second), rssi: rssi(0.2, &chance)) }

        let when = bench.given["beacons"]?.first { $0.values[1] == .text("immediate") }?.seconds
        let told = try #require(when)
        #expect(told <= 68)
    }

    @Test(
        "a power that cannot be one makes the distance unknown and not 10^9 m",
        arguments: [-3.0, 0, 1, 26, 100, -120]
    )
    func refusesPowers(_ power: Double) throws {
        var bench = try Bench("beacons")
        for second in 0..<20 { sight(&bench, Double(second), rssi: .real(-72), power: .real(power)) }

        let said = try #require(bench.given["beacons"])
        #expect(said.count >= 19)
        for sample in said { #expect(sample.values[1...] == [.text("unknown"), .real(-1)]) }
        #expect(bench.texts("beacon.region", 1) == ["enter"])
    }

    @Test("a source that tells no powers gets the usual one, and a region its own")
    func usesUsualPower() throws {
        let plain = Stream(Name(mapping: "beacon"), fields: Array(BeaconsTests.stream.fields.dropLast()))
        var usual = try Bench("beacons")
        var own = try Bench("beacons", [("region", "r,\(BeaconsTests.uuid),100,0,-79")])
        for second in 0..<10 {
            let values: [Value] = [.text(BeaconsTests.uuid), .integer(100), .integer(0), .real(-79)]
            usual.add(plain, Double(second), values)
            own.add(BeaconsTests.stream, Double(second), values + [.missing])
        }

        #expect(usual.given["beacons"]?.last?.values[1...] == [.text("far"), .real(10)])
        #expect(own.given["beacons"]?.last?.values[1...] == [.text("near"), .real(1)])
    }

    @Test("a missing, positive or impossible strength is a sighting, and no distance")
    func refusesStrengths() throws {
        var bench = try Bench("beacons")
        for (second, rssi) in [Value.missing, .real(0), .real(127), .real(20), .real(-200)].enumerated() {
            sight(&bench, Double(second), rssi: rssi)
        }

        #expect(bench.texts("beacon.region", 1) == ["enter"])
        for sample in bench.given["beacons"] ?? [] { #expect(sample.values[2] == .real(-1)) }
    }

    @Test("without a sighting the distance is unknown after 5 s, and the region is left after 30 s")
    func leaves() throws {
        var bench = try Bench("beacons", [("region", "desk,\(BeaconsTests.uuid.lowercased())")])
        for second in 0...10 { sight(&bench, Double(second), rssi: .real(-59)) }
        bench.derivation.advance(to: Timestamp(seconds: Bench.start + 100), into: &bench.output)
        bench.finish()

        #expect(bench.texts("beacon.region", 1) == ["enter", "leave"])
        #expect(bench.given["beacon.region"]?.last?.seconds == 40)
        let unknown = bench.given["beacons"]?.first { $0.values[1] == .text("unknown") && $0.seconds > 10 }
        #expect(unknown?.seconds == 16)
        #expect(bench.given["beacon.nearest"]?.last?.values[4] == .text("unknown"))
    }

    @Test("the nearest of several beacons is told, and changes only for one that is clearly nearer")
    func tellsNearest() throws {
        var bench = try Bench("beacons", [("region", "all,\(BeaconsTests.uuid),100")])
        for second in 0..<60 {
            sight(&bench, Double(second), minor: 1, rssi: .real(-60))
            sight(&bench, Double(second), minor: 2, rssi: .real(second < 30 ? -61 : -45))
        }

        let told = try #require(bench.given["beacon.nearest"])
        #expect(told.first?.values[0] == .text("all"))
        #expect(told.first?.values[3] == .integer(1))
        #expect(told.last?.values[3] == .integer(2))
        #expect(told.last?.values[4] == .text("immediate"))
        #expect(told.count <= 3)
    }

    @Test("beacons of other regions are ignored, and a thousand of them need no memory")
    func ignoresOthers() throws {
        var bench = try Bench("beacons", [("region", "one,\(BeaconsTests.uuid),100,7,-59")])
        for minor in 0..<1_000 {
            sight(&bench, Double(minor) / 10, minor: Int64(minor), rssi: .real(-59), power: .missing)
        }

        #expect(Set(bench.texts("beacons", 0)) == ["one"])
        var free = try Bench("beacons")
        for minor in 0..<1_000 { sight(&free, Double(minor) / 100, minor: Int64(minor), rssi: .real(-59)) }
        #expect(Set(free.texts("beacon.region", 0)).count == 128)
    }

    @Test(
        "settings that are wrong are refused",
        arguments: [
            "x", "x,short", "x,e2c56db5-dffb-48d2-b060-d0f5a71096e0,70000", ",e2c56db5-dffb-48d2-b060-d0f5a71096e0",
        ]
    )
    func refusesSettings(_ text: String) {
        #expect(throws: DerivationError.self) { try Bench("beacons", [("region", text)]) }
    }

    @Test("a region that was entered before a restart is left after it")
    func survivesRestart() throws {
        var bench = try Bench("beacons")
        sight(&bench, 0, rssi: .real(-59))
        let state = try #require(bench.derivation.state)

        var next = try Bench("beacons")
        next.derivation.restore(state)
        for second in 100..<110 { sight(&next, Double(second), minor: 9, rssi: .real(-59)) }

        #expect(next.texts("beacon.region", 1) == ["leave", "enter"])
    }
}
