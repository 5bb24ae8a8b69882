/// Finds out whether accelerations are in m/s^2 or in g: over seconds their mean length is near gravity.
struct AccelerationUnit: Sendable {
    private var mean = 0.0
    private var seconds = 0.0
    private var astray = 0.0
    /// What brings an acceleration to m/s^2; nil while that is not known.
    private(set) var factor: Double?

    /// How long the first look takes, and how long a wrong level is borne, in seconds.
    private static let firstLook = 0.25
    private static let patience = 1.0
    private static let gravity = 9.80665

    /// Takes a length, and the seconds since the one before.
    @inline(__always)
    mutating func add(_ length: Double, seconds passed: Double) {
        let step = min(max(passed, 0), 0.1)
        seconds += step
        mean += (length - mean) * min(1, max(step, 0.001) / min(max(seconds, 0.001), 2))
        guard let factor else {
            if seconds >= AccelerationUnit.firstLook { self.factor = AccelerationUnit.factor(for: mean) }
            return
        }
        let inG = mean * factor / AccelerationUnit.gravity
        // Runners reach 1.4 g on average; nothing at all stays at half or double.
        guard inG < 0.6 || inG > 2 else {
            astray = 0
            return
        }
        astray += step
        if astray > AccelerationUnit.patience { self = AccelerationUnit() }
    }

    private static func factor(for mean: Double) -> Double? {
        switch mean {
        case 7.0...14.0: 1
        case 0.72...1.4: gravity
        default: nil
        }
    }
}
