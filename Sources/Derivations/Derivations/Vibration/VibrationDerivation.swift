internal import Diagnostics
public import Samples

/// What an accelerometer on a machine tells: the stream `vibration`, once each half window.
///
/// All axes count together, so that it does not matter how the sensor is mounted. A window with a gap, with an axis at the
/// end of its range, or without any noise gives missing values.
public struct VibrationDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "vibration"
    /// What can be set: the window's samples, bands and the velocity's range in Hz, the unit, and which device.
    public static let keys = ["window", "band", "velocity", "unit", "device"]

    /// The name of the kind.
    public var kind: String { VibrationDerivation.kind }
    /// `accelerometer`.
    public let inputs: [Name]
    /// `vibration`, with a field for each band.
    public let outputs: [Stream]

    private let size: Int
    private let bandCount: Int
    private let factor: Double
    private var analyser: VibrationAnalyser
    private var window: VibrationWindow?
    private var clock = EventClock()

    /// Makes it; `band` is `LOW,HIGH` in Hz, up to 16 times.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        let sizes = ["256", "512", "1024", "2048", "4096"]
        size = Int(try settings.word("window", of: sizes, usual: "512")) ?? 512
        var bands: [ClosedRange<Double>] = []
        for text in settings.texts("band") { bands.append(try VibrationDerivation.range("band", text)) }
        guard bands.count <= 16 else { throw DerivationError("There are \(bands.count) bands, but 16 are the most.") }
        let velocity = try settings.text("velocity").map { text throws(DerivationError) in
            try VibrationDerivation.range("velocity", text)
        }
        bandCount = bands.count
        factor = try settings.word("unit", of: ["m/s2", "g"], usual: "m/s2") == "g" ? 9.80665 : 1
        analyser = VibrationAnalyser(size: size, bands: bands, velocity: velocity ?? 10...1_000)
        inputs = [settings.name("accelerometer")]
        let known = settings.stream("vibration")
        let extra = bands.indices.map { Field(Name(mapping: "band\($0 + 1)"), unit: .metresPerSecondSquared) }
        outputs = [Stream(known.name, fields: known.fields + extra)]
    }

    private static func range(_ key: String, _ text: String) throws(DerivationError) -> ClosedRange<Double> {
        let parts = text.split(separator: ",").compactMap { Double($0) }
        guard parts.count == 2, parts[0] >= 0, parts[0] < parts[1], parts[1].isFinite else {
            throw DerivationError("\(key) is \"\(text)\", but must be LOW,HIGH in Hz.")
        }
        return parts[0]...parts[1]
    }

    /// Takes accelerations: three axes or a magnitude.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0], let axes = Axes(batch.stream) else { return }
        var window = self.window ?? VibrationWindow(size: size, axisCount: axes.isMagnitude ? 1 : 3)
        self.window = nil
        for row in 0..<batch.count {
            // A sample without a number leaves a gap.
            guard let values = axes.read(batch.values, row) else { continue }
            let time = batch.times[row].nanoseconds
            switch clock.take(time, arrival: batch.arrival) {
            // Several samples of one batch of a driver may have one time.
            case .late where clock.newest != time: continue
            case .setBack: window.clear()
            case .late, .next: break
            }
            // More than a second between two samples is no vibration any more.
            if let last = window.last, time &- last > 1_000_000_000 {
                window.clear()
                writeNothing(time, into: &output)
            }
            let scaled = (x: values.x * factor, y: values.y * factor, z: values.z * factor)
            guard window.add(time, scaled) == .full else { continue }
            if let rate = window.rate, !window.isBroken {
                write(analyser.figures(window.axes, rate: rate), time, into: &output)
            } else {
                writeNothing(time, into: &output)
            }
            window.slide()
        }
        self.window = window
    }

    private func write(_ figures: VibrationFigures, _ time: Int64, into output: inout DerivedSamples) {
        let values: [Value] = [
            Value(figures.rms), Value(figures.peak), Value(figures.crest ?? .nan), Value(figures.frequency ?? .nan),
            Value(figures.velocity),
        ]
        output.append(0, time: Timestamp(nanoseconds: time), values + figures.bands.map { Value($0) })
    }

    private func writeNothing(_ time: Int64, into output: inout DerivedSamples) {
        output.append(0, time: Timestamp(nanoseconds: time), Array(repeating: .missing, count: 5 + bandCount))
    }
}
