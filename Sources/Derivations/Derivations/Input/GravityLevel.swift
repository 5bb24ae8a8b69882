internal import Glibc

/// Brings a magnitude of acceleration to g, whatever its unit: over seconds its mean is gravity.
///
/// A walk raises the mean by some percent only (12 % in a back pocket at worst), so m/s^2, g and raw counts need no
/// setting. A level that jumps to another unit is followed after a second.
struct GravityLevel: Sendable {
    private var level = 0.0
    private var weight = 0.0
    private var previous: Int64?
    private var astray = 0.0
    /// So long, in seconds, a level may be far off before it is taken for another unit.
    private static let patience = 1.0

    /// The magnitude in g; nil while it cannot be known.
    @inline(__always)
    mutating func scaled(_ time: Int64, _ magnitude: Double) -> Double? {
        guard magnitude.isFinite, magnitude < 1e9 else { return nil }
        let seconds: Double
        if let previous {
            seconds = min(0.1, max(0, Double(time &- previous) * 1e-9))
        } else {
            seconds = 0.02
        }
        previous = time
        weight = min(weight + seconds, 10)
        level += (magnitude - level) * min(1, seconds / max(weight, 0.02))
        guard level > 1e-6 else { return nil }
        let scaled = magnitude / level
        // Nobody stays below a third or above three times gravity: it is another unit now.
        if scaled < 0.33 || scaled > 3 {
            astray += seconds
            if astray > GravityLevel.patience {
                astray = 0
                weight = 0.02
                level = magnitude
                return nil
            }
        } else {
            astray = 0
        }
        return min(scaled, 8)
    }
}
