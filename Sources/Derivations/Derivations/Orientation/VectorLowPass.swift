internal import Glibc

/// A second-order Butterworth low-pass for vectors, by its time constant; it starts with the mean of what came.
///
/// Before one time constant has passed the mean is the better guess (as in VQF).
struct VectorLowPass: Sendable {
    private let time: Double
    private var interval = 0.0
    private var b0 = 0.0
    private var b1 = 0.0
    private var a1 = 0.0
    private var a2 = 0.0
    private var s1 = Vector.zero
    private var s2 = Vector.zero
    private var sum = Vector.zero
    private var count = 0.0
    private var isStarted = false
    /// The last output.
    private(set) var value = Vector.zero

    init(time: Double) {
        self.time = time
    }

    /// Sets the interval between samples, in seconds.
    mutating func set(interval: Double) {
        self.interval = interval
        // From the time constant to the corner: a step answer that has done 63 % of its way after `time`.
        let corner = 2.0.squareRoot() / (2 * .pi * time)
        let c = tan(.pi * min(corner * interval, 0.45))
        let d = c * c + 2.0.squareRoot() * c + 1
        b0 = c * c / d
        b1 = 2 * b0
        a1 = 2 * (c * c - 1) / d
        a2 = (1 - 2.0.squareRoot() * c + c * c) / d
        if isStarted { settle(at: value) }
    }

    /// Forgets everything.
    mutating func reset() {
        isStarted = false
        sum = .zero
        count = 0
    }

    private mutating func settle(at x: Vector) {
        s1 = x * (1 - b0)
        s2 = x * (b0 - a2)
    }

    /// The next value.
    @inline(__always)
    mutating func next(_ x: Vector) -> Vector {
        guard isStarted else {
            count += 1
            sum += x
            value = sum / count
            if count * interval >= time {
                isStarted = true
                settle(at: value)
            }
            return value
        }
        let y = x * b0 + s1
        s1 = x * b1 - y * a1 + s2
        s2 = x * b0 - y * a2
        value = y
        return y
    }
}
