/// The gyroscope's bias by a Kalman filter: at rest from the rate itself, in motion from the accelerometer's corrections.
struct GyroscopeBias: Sendable {
    private static let degree = Double.pi / 180

    private let tuning: MotionTuning
    private let variance0: Double
    private var drift = 0.0
    private var weightInMotion = 0.0
    private var weightVertical = 0.0
    private var weightAtRest = 0.0
    /// The covariance, symmetric: xx, yy, zz and xy, xz, yz.
    private var diagonal: Vector
    private var off = Vector.zero
    /// The bias in rad/s.
    private(set) var value = Vector.zero

    init(_ tuning: MotionTuning) {
        self.tuning = tuning
        variance0 = tuning.biasAtStart * tuning.biasAtStart
        diagonal = Vector(repeating: variance0)
    }

    /// The standard deviation of the estimate, in rad/s.
    var deviation: Double { max(diagonal.x, diagonal.y, diagonal.z).squareRoot() }

    /// Sets the interval between corrections, in seconds.
    mutating func set(interval: Double) {
        // A filter that forgets by `drift` and sees with weight w converges to the variance p with w = p^2/drift + p.
        drift = variance0 / 25 * interval / tuning.biasForgetting
        let motion = tuning.biasInMotion * tuning.biasInMotion
        weightInMotion = motion * motion / drift + motion
        weightVertical = weightInMotion / tuning.biasVerticalForgetting
        let rest = tuning.biasAtRest * tuning.biasAtRest
        weightAtRest = rest * rest / drift + rest
    }

    /// Knows nothing about it any more, but keeps the guess.
    mutating func doubt() {
        diagonal = Vector(repeating: variance0)
        off = .zero
    }

    private mutating func forget() {
        diagonal.x = min(diagonal.x + drift, variance0)
        diagonal.y = min(diagonal.y + drift, variance0)
        diagonal.z = min(diagonal.z + drift, variance0)
    }

    /// Takes the rate at rest.
    mutating func rest(_ rate: Vector) {
        forget()
        let rows = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))
        // The weight is the same for every axis, so the axes can be taken one after the other.
        correct(rows.0, rate.x, weightAtRest)
        correct(rows.1, rate.y, weightAtRest)
        correct(rows.2, rate.z, weightAtRest)
        value = value.limited(to: tuning.biasLimit)
    }

    /// Takes what the accelerometer's correction says about the two level parts; the vertical part fades.
    mutating func motion(_ rows: (Vector, Vector, Vector), _ error: Vector) {
        forget()
        let before = value
        correct(rows.0, error.x + rows.0.dot(before), weightInMotion)
        correct(rows.1, error.y + rows.1.dot(before), weightInMotion)
        correct(rows.2, error.z + rows.2.dot(before), weightVertical)
        value = value.limited(to: tuning.biasLimit)
    }

    /// One measurement of `row . bias`, whose noise has the variance `weight`; the errors of one moment are independent.
    @inline(__always)
    private mutating func correct(_ row: Vector, _ given: Double, _ weight: Double) {
        let p = Vector(
            diagonal.x * row.x + off.x * row.y + off.y * row.z,
            off.x * row.x + diagonal.y * row.y + off.z * row.z,
            off.y * row.x + off.z * row.y + diagonal.z * row.z
        )
        let gain = p / (row.dot(p) + weight)
        let error = given - row.dot(value)
        value += gain * max(-tuning.biasLimit, min(tuning.biasLimit, error))
        diagonal -= gain * p
        off -= Vector(gain.x * p.y, gain.x * p.z, gain.y * p.z)
    }
}
