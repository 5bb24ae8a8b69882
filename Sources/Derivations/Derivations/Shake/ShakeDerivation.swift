internal import Diagnostics
public import Samples

/// Shakes of the device: the stream `shake` with `began`, `ended` and `cancelled`.
public struct ShakeDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "shake"
    /// What can be set: which device.
    public static let keys = ["device"]

    /// The name of the kind.
    public var kind: String { ShakeDerivation.kind }
    /// The accelerometer.
    public let inputs: [Name]
    /// `shake`.
    public let outputs: [Stream]

    private var detector = ShakeDetector()
    private var unit = AccelerationUnit()
    private var last: Int64?
    private var shakes: Int64 = 0

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        inputs = [settings.name("accelerometer")]
        outputs = [settings.stream("shake")]
    }

    /// Takes accelerations in m/s^2 or g: three axes or their magnitude.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0], let axes = Axes(batch.stream) else { return }
        for row in 0..<batch.count {
            guard let a = axes.read(batch.values, row) else { continue }
            let time = batch.times[row].nanoseconds
            let value = Vector(a.x, a.y, a.z)
            unit.add(value.length, seconds: last.map { Double(time &- $0) * 1e-9 } ?? 0)
            last = time
            guard let factor = unit.factor,
                let event = detector.add(time, value * factor, isMagnitude: axes.isMagnitude)
            else { continue }
            if event == .began { shakes += 1 }
            output.append(0, time: batch.times[row], [.text(event.rawValue)])
        }
    }

    /// How many shakes began.
    public var summary: [(name: String, value: Value)] { [("shakes", .integer(shakes))] }
}
