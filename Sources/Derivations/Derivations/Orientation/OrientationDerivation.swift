internal import Diagnostics
public import Samples

/// Which side of the device points up: the stream `orientation`, a sample for each change.
public struct OrientationDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "orientation"
    /// What can be set: which device.
    public static let keys = ["device"]

    /// The name of the kind.
    public var kind: String { OrientationDerivation.kind }
    /// The accelerometer.
    public let inputs: [Name]
    /// `orientation`.
    public let outputs: [Stream]

    private var finder = FaceFinder()
    private var unit = AccelerationUnit()
    private var last: Int64?
    private var late = 0

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        inputs = [settings.name("accelerometer")]
        outputs = [settings.stream("orientation")]
    }

    /// Takes accelerations in m/s^2 or g.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0], let axes = Axes(batch.stream), !axes.isMagnitude else { return }
        for row in 0..<batch.count {
            guard let a = axes.read(batch.values, row) else { continue }
            let time = batch.times[row].nanoseconds
            var seconds = last.map { Double(time &- $0) * 1e-9 } ?? 0
            if seconds < 0 {
                late += 1
                guard late >= 50 else { continue }
                seconds = .infinity
            }
            late = 0
            last = time
            let value = Vector(a.x, a.y, a.z)
            unit.add(value.length, seconds: seconds)
            guard let face = finder.add(unit.factor.map { value * $0 }, seconds: seconds) else { continue }
            output.append(0, time: batch.times[row], [.text(face.rawValue)])
        }
    }
}
