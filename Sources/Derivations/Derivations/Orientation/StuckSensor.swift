/// Tells a sensor that hangs from one that lies still: a sensor's noise moves its last digits.
struct StuckSensor: Sendable {
    private var last = Vector(repeating: .nan)
    private var seconds = 0.0
    private var clipped = SIMD3<Int>(repeating: 0)

    /// So long the same values may come, in seconds.
    private static let patience = 1.0
    /// So many times the same large value on one axis is the end of its range.
    private static let clipping = 3

    /// Whether the same values have come for long.
    var isStuck: Bool { seconds > StuckSensor.patience }
    /// Whether an axis is at the end of its range.
    private(set) var isClipped = false

    /// Takes a value; `large` is what a resting sensor never shows.
    @inline(__always)
    mutating func add(_ value: Vector, seconds passed: Double, large: Double) {
        isClipped = false
        guard value.x == last.x || value.y == last.y || value.z == last.z else {
            last = value
            seconds = 0
            clipped = .zero
            return
        }
        for axis in 0..<3 {
            clipped[axis] = value[axis] == last[axis] && abs(value[axis]) > large ? clipped[axis] + 1 : 0
            if clipped[axis] + 1 >= StuckSensor.clipping { isClipped = true }
        }
        seconds = value == last ? seconds + passed : 0
        last = value
    }
}
