import Diagnostics
import Samples
import Testing

@testable import Derivations

@Suite("Bad input")
struct BadInputTests {
    /// Batches of nonsense: any value, any time.
    private func nonsense(_ stream: String, _ chance: inout Chance) -> SampleBatch {
        let name = Name(mapping: stream)
        let fields = KnownStreams.fields(of: name) ?? [Field(name)]
        var batch = SampleBatch(Stream(name, fields: fields), arrival: BootInstant(nanoseconds: 0))
        let numbers = [0, -0.0, 1e-300, 1e300, -1e300, .greatestFiniteMagnitude, 9.81, -9.81, 1013, 5, .pi]
        let times: [Int64] = [.min, .max, .min + 1, .max - 1, 0, 1, -1, 1_000_000_000_000]
        var time = Int64.random(in: 0...10_000_000_000, using: &chance)
        for _ in 0..<200 {
            switch Int.random(in: 0..<10, using: &chance) {
            case 0: time = times.randomElement(using: &chance) ?? 0
            case 1: time = time &- Int64.random(in: 0...3_000_000_000, using: &chance)
            default: time = time &+ Int64.random(in: 0...40_000_000, using: &chance)
            }
            let values = fields.map { _ -> Value in
                switch Int.random(in: 0..<8, using: &chance) {
                case 0: .missing
                case 1: .text("nonsense")
                case 2: .flag(true)
                case 3: .integer(Int64.random(in: .min ... .max, using: &chance))
                case 4: .real(numbers.randomElement(using: &chance) ?? 0)
                default: Value(Double.random(in: -20...20, using: &chance))
                }
            }
            batch.append(time: Timestamp(nanoseconds: time), values)
        }
        return batch
    }

    @Test(
        "no kind of derivation falls over nonsense, and none gives out a number that is no number",
        arguments: DerivationCatalog.kinds.map(\.name),
        0..<20
    )
    func survives(_ kind: String, _ seed: Int) throws {
        var chance = Chance(UInt64(seed))
        let derivation = try DerivationCatalog.kind(kind)?.make(DerivationSettings())
        let made = try #require(derivation)
        var batches: [SampleBatch] = []
        for _ in 0..<10 { for input in made.inputs { batches.append(nonsense(input.text, &chance)) } }

        let outcome = Outcome([made], batches)

        for (_, samples) in outcome.samples {
            for sample in samples {
                for case .real(let number) in sample.values { #expect(number.isFinite) }
            }
        }
    }

    @Test("after nonsense a walk is counted as if nothing had been")
    func comesBack() throws {
        var chance = Chance(77)
        let mess = (0..<20).map { _ in nonsense("accelerometer", &chance) }
        let walk = Made.batch("accelerometer", rate: 50, seconds: 120, from: 1_700_000_000) { Made.walking($0) }

        let clean = Outcome([try StepsDerivation()], [walk]).total("steps")
        let after = Outcome([try StepsDerivation()], mess + [walk])
        let before = Outcome([try StepsDerivation()], mess).total("steps")

        #expect(abs(after.total("steps") - before - clean) <= 30)
    }

    @Test("streams of other names and shapes are ignored")
    func ignoresOthers() throws {
        let field = Field(Name(mapping: "x"))
        let odd = Stream(Name(mapping: "accelerometer"), fields: [field])
        let batch = SampleBatch(odd, arrival: BootInstant(nanoseconds: 0), time: Timestamp(nanoseconds: 5), [.real(1)])
        let other = Made.batch("humidity", rate: 10, seconds: 5) { [$0] }

        for kind in DerivationCatalog.kinds {
            guard let derivation = try? kind.make(DerivationSettings()) else { continue }
            #expect(Outcome([derivation], [batch, other]).samples.isEmpty)
        }
    }
}
