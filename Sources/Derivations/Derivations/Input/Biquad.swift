internal import Glibc

/// A second-order filter section (transposed direct form II).
struct Biquad: Sendable {
    private let b0: Double
    private let b1: Double
    private let b2: Double
    private let a1: Double
    private let a2: Double
    private var s1 = 0.0
    private var s2 = 0.0

    /// A Butterworth low-pass that has lost 3 dB at `frequency`, for `rate` samples a second.
    static func lowPass(_ frequency: Double, rate: Double) -> Biquad {
        let k = tan(.pi * frequency / rate)
        let norm = 1 / (1 + k * 2.0.squareRoot() + k * k)
        return Biquad(
            b0: k * k * norm,
            b1: 2 * k * k * norm,
            b2: k * k * norm,
            a1: 2 * (k * k - 1) * norm,
            a2: (1 - k * 2.0.squareRoot() + k * k) * norm
        )
    }

    /// A Butterworth high-pass that has lost 3 dB at `frequency`, for `rate` samples a second.
    static func highPass(_ frequency: Double, rate: Double) -> Biquad {
        let k = tan(.pi * frequency / rate)
        let norm = 1 / (1 + k * 2.0.squareRoot() + k * k)
        return Biquad(
            b0: norm,
            b1: -2 * norm,
            b2: norm,
            a1: 2 * (k * k - 1) * norm,
            a2: (1 - k * 2.0.squareRoot() + k * k) * norm
        )
    }

    private init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        self.b0 = b0
        self.b1 = b1
        self.b2 = b2
        self.a1 = a1
        self.a2 = a2
    }

    /// The next value.
    @inline(__always)
    mutating func next(_ x: Double) -> Double {
        let y = b0 * x + s1
        s1 = b1 * x - a1 * y + s2
        s2 = b2 * x - a2 * y
        return y
    }

    /// Settles as if `x` had come for ever.
    mutating func settle(at x: Double) {
        let gain = (b0 + b1 + b2) / (1 + a1 + a2)
        let y = gain * x
        s1 = y - b0 * x
        s2 = b2 * x - a2 * y
    }
}
