internal import Diagnostics
public import Samples

/// Steps, cadence, distance and pace of a person who carries an accelerometer: the streams `steps` and `pedometer`.
///
/// Each step is a sample with its own time, so that differences of `count` are the steps of any past interval. The first
/// steps of a walk are given out together, once they are a streak. A pause is a sample of `steps` with cadence 0.
public struct StepsDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "steps"
    /// What can be set: the person's height in metres, and which device.
    public static let keys = ["height", "device"]

    /// The name of the kind.
    public var kind: String { StepsDerivation.kind }
    /// The accelerometer.
    public let inputs: [Name]
    /// `steps` and `pedometer`.
    public let outputs: [Stream]

    private var counter = StepCounter()
    private var walk: Walk
    private let height: Double

    /// Makes it for a person of `height` (1.7 m when it is not set).
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        height = try settings.number("height", in: 0.5...2.5, usual: 1.7)
        walk = Walk(height: height)
        inputs = [settings.name("accelerometer")]
        outputs = [settings.stream("steps"), settings.stream("pedometer")]
    }

    /// Takes accelerations in any unit: three axes or their magnitude.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0], let axes = Axes(batch.stream) else { return }
        for row in 0..<batch.count {
            guard let a = axes.read(batch.values, row) else { continue }
            let time = batch.times[row].nanoseconds
            counter.add(time, a.x, a.y, a.z) { event in
                if case .step(let at) = event { walk.add(at, into: &output) }
            }
            if let moment = walk.pass(counter.time) { walk.report(pause: moment, into: &output) }
        }
    }

    /// Steps, metres and seconds a metre.
    public var summary: [(name: String, value: Value)] {
        [
            ("steps", .integer(walk.count)),
            ("distance_m", Value(walk.metres)),
            ("active_pace_s_m", walk.activePace.map { Value($0) } ?? .missing),
        ]
    }

    /// The totals so far.
    public var state: [UInt8]? { Array("\(walk.count) \(walk.metres)".utf8) }

    /// Goes on from totals.
    public mutating func restore(_ state: [UInt8]) {
        let parts = String(decoding: state, as: UTF8.self).split(separator: " ")
        guard parts.count == 2, let count = Int64(parts[0]), count >= 0, let metres = Double(parts[1]), metres >= 0,
            metres.isFinite
        else { return }
        walk = Walk(height: height, count: count, metres: metres)
    }
}

extension Walk {
    /// Takes a step and gives out what it makes.
    mutating func add(_ time: Int64, into output: inout DerivedSamples) {
        if let paused = pass(time) { report(pause: paused, into: &output) }
        if step(time) == .resumed { report("resume", time, into: &output) }
        output.append(
            0,
            time: Timestamp(nanoseconds: time),
            [
                .integer(count), cadence.map { Value($0) } ?? .missing, Value(metres),
                pace.map { Value($0) } ?? .missing,
            ]
        )
    }

    /// Gives out that the person has paused.
    mutating func report(pause time: Int64, into output: inout DerivedSamples) {
        output.append(0, time: Timestamp(nanoseconds: time), [.integer(count), .real(0), Value(metres), .missing])
        report("pause", time, into: &output)
    }

    private func report(_ event: String, _ time: Int64, into output: inout DerivedSamples) {
        output.append(
            1,
            time: Timestamp(nanoseconds: time),
            [.text(event), Value(Double(active) * 1e-9), activePace.map { Value($0) } ?? .missing]
        )
    }
}
