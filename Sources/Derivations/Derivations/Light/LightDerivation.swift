internal import Diagnostics
public import Samples

/// How bright it is around, from `light`: the stream `ambient_light`, when the class changes.
///
/// Classes: `dark`, `dim`, `indoor`, `bright`, `daylight`, `sunlight`. A border has to be passed by a fifth, for two seconds
/// or two samples. More than 200,000 lx is no light on earth, and an hour of one value other than 0 is a stuck sensor: then
/// the class is `unknown`.
public struct LightDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "ambient_light"
    /// What can be set: a factor for a sensor behind glass, and which device.
    public static let keys = ["factor", "device"]

    /// The name of the kind.
    public var kind: String { LightDerivation.kind }
    /// `light`.
    public let inputs: [Name]
    /// `ambient_light`.
    public let outputs: [Stream]

    private let factor: Double
    private var clock = EventClock()
    private var stuck = StuckValue(patience: 3_600)
    private var level: Int?
    private var hint: (level: Int?, since: Int64, count: Int)?

    static let classes = ["dark", "dim", "indoor", "bright", "daylight", "sunlight"]
    /// The borders in lux: full moon to candle 5, corridor 50, office 500, shop window and overcast 2,000, sun 25,000.
    private static let borders = [5.0, 50, 500, 2_000, 25_000]
    private static let hysteresis = 1.2
    private static let most = 200_000.0
    private static let dwell: Int64 = 2_000_000_000

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        factor = try settings.number("factor", in: 0.001...1_000, usual: 1)
        inputs = [settings.name("light")]
        outputs = [settings.stream("ambient_light")]
    }

    /// Takes illuminances in lux.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0],
            let field = batch.stream.fields.firstIndex(where: { $0.name.text == "value" })
        else { return }
        for row in 0..<batch.count {
            guard let given = batch.value(row: row, field: field).real else { continue }
            let time = batch.times[row].nanoseconds
            switch clock.take(time, arrival: batch.arrival) {
            case .late: continue
            case .setBack: hint = nil
            case .next: break
            }
            let lux = given * factor
            let isStuck = stuck.add(given, at: time) && given != 0
            let isKnown = lux >= 0 && lux <= LightDerivation.most && !isStuck
            judge(isKnown ? next(lux) : nil, lux, batch.times[row], into: &output)
        }
    }

    /// The class of a light, seen from the class that is believed.
    private func next(_ lux: Double) -> Int {
        LightDerivation.borders.indices.count { place in
            let border = LightDerivation.borders[place]
            guard let level else { return lux >= border }
            return lux >= (place < level ? border / LightDerivation.hysteresis : border * LightDerivation.hysteresis)
        }
    }

    private mutating func judge(_ found: Int?, _ lux: Double, _ time: Timestamp, into output: inout DerivedSamples) {
        let isFirst = hint == nil && level == nil
        guard found != level || isFirst else {
            hint = (found, time.nanoseconds, 0)
            return
        }
        if let hint, hint.count > 0, hint.level == found {
            self.hint = (found, hint.since, hint.count + 1)
        } else {
            hint = (found, time.nanoseconds, 1)
        }
        guard let hint, isFirst || (hint.count >= 2 && time.nanoseconds &- hint.since >= LightDerivation.dwell) else {
            return
        }
        level = found
        self.hint = (found, time.nanoseconds, 0)
        let word = found.map { LightDerivation.classes[$0] } ?? "unknown"
        output.append(0, time: time, [.text(word), found == nil ? .missing : Value(lux)])
    }
}
