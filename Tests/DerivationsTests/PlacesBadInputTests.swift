import Diagnostics
import Samples
import Testing

@testable import Derivations

@Suite("Bad input for places, beacons, hearts, light, air and machines")
struct PlacesBadInputTests {
    private static let settings: [String: [(String, String)]] = [
        "geofence": [("fence", "a,47,8,50"), ("fence", "b,-89.9,179.9,100000"), ("fence", "c,0,0,1")],
        "beacons": [("region", "r,e2c56db5-dffb-48d2-b060-d0f5a71096e0")],
        "vibration": [("window", "256"), ("band", "0,1000")],
        "run": [("split", "10")],
    ]

    private static let numbers: [Value] = [
        .missing, .real(0), .real(-1), .real(47), .real(8), .real(1e308), .real(-1e308), .real(.leastNonzeroMagnitude),
        .real(90),
        .real(180), .real(-180), .real(1_013), .real(0.8), .integer(.max), .integer(.min), .flag(true), .text(""),
        .text("enter"), .text("e2c56db5-dffb-48d2-b060-d0f5a71096e0"), .text(String(repeating: "x", count: 5_000)),
        .text("stop"), .text("resume"), .text("pause"),
    ]

    @Test("no samples of any kind stop a derivation", arguments: DerivationCatalog.places.map(\.name), [1, 2, 3])
    func survivesAnything(_ kind: String, _ seed: UInt64) throws {
        var bench = try Bench(kind, PlacesBadInputTests.settings[kind] ?? [])
        var chance = Chance(seed)
        let inputs = bench.derivation.inputs
        var time: Int64 = 1_600_000_000_000_000_000
        for _ in 0..<6_000 {
            guard let name = inputs.randomElement(using: &chance) else { continue }
            var fields = KnownStreams.fields(of: name) ?? [Field(Name(mapping: "command"))]
            if Int.random(in: 0..<50, using: &chance) == 0 { fields = [Field(Name(mapping: "other"))] }
            switch Int.random(in: 0..<40, using: &chance) {
            case 0: time = .max
            case 1: time = .min
            case 2: time = 0
            case 3: time = 1_600_000_000_000_000_000
            case 4: time = time &+ 1_000_000_000_000_000
            case 5: time = time &- 5_000_000_000
            default: time = time &+ Int64.random(in: 0...2_000_000_000, using: &chance)
            }
            let values = fields.map { _ in PlacesBadInputTests.numbers.randomElement(using: &chance) ?? .missing }
            let batch = SampleBatch(
                Stream(name, fields: fields),
                arrival: BootInstant(nanoseconds: Int64.random(in: 0...1_000_000_000_000, using: &chance)),
                time: Timestamp(nanoseconds: time),
                values
            )
            bench.derivation.receive(batch, into: &bench.output)
            if Int.random(in: 0..<100, using: &chance) == 0 {
                bench.derivation.advance(to: Timestamp(nanoseconds: time), into: &bench.output)
                if let state = bench.derivation.state { bench.derivation.restore(state) }
            }
            for given in bench.output.take() {
                // What is told is told as a number or as unknown.
                for value in given.values { if case .real(let number) = value { #expect(number.isFinite) } }
            }
        }
        bench.finish()
        _ = bench.derivation.summary
    }

    @Test("states that nobody wrote are ignored", arguments: DerivationCatalog.places.map(\.name))
    func survivesStates(_ kind: String) throws {
        var bench = try Bench(kind, PlacesBadInputTests.settings[kind] ?? [])
        var chance = Chance(4)
        for text in [
            "", " ", "1 2 3 4", "1 -1 nan inf", "9223372036854775807 9223372036854775807 1e300 1e300", "1 5 47 8\nx",
            "1\ni 5 a\no x b",
        ] {
            bench.derivation.restore(Array(text.utf8))
        }
        for _ in 0..<300 { bench.derivation.restore((0..<20).map { _ in .random(in: 0...255, using: &chance) }) }
        bench.finish()
    }
}
