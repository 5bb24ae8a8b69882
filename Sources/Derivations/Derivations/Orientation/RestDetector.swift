/// Tells when the device lies still: both sensors stayed close to their own low-passed values.
struct RestDetector: Sendable {
    private let tuning: MotionTuning
    private var rates: VectorLowPass
    private var accelerations: VectorLowPass
    private var rateTime = 0.0
    private var accelerationTime = 0.0
    private var rateInterval = 0.01
    private var accelerationInterval = 0.01

    init(_ tuning: MotionTuning) {
        self.tuning = tuning
        rates = VectorLowPass(time: tuning.restFilterTime)
        accelerations = VectorLowPass(time: tuning.restFilterTime)
    }

    /// Whether it lies still now.
    var isResting: Bool { rateTime >= tuning.restTime && accelerationTime >= tuning.restTime }
    /// The rate at rest.
    var rate: Vector { rates.value }
    /// Whether the rotation alone is that of rest.
    var turnsNot: Bool { rateTime >= tuning.restTime }

    mutating func set(rateInterval: Double) {
        self.rateInterval = rateInterval
        rates.set(interval: rateInterval)
    }

    mutating func set(accelerationInterval: Double) {
        self.accelerationInterval = accelerationInterval
        accelerations.set(interval: accelerationInterval)
    }

    @inline(__always)
    mutating func rotate(_ rate: Vector) {
        let usual = rates.next(rate)
        let away = rate - usual
        if away.dot(away) < tuning.restRate * tuning.restRate,
            max(abs(usual.x), abs(usual.y), abs(usual.z)) <= tuning.biasLimit
        {
            rateTime += rateInterval
        } else {
            rateTime = 0
        }
    }

    @inline(__always)
    mutating func accelerate(_ acceleration: Vector) {
        let away = acceleration - accelerations.next(acceleration)
        if away.dot(away) < tuning.restAcceleration * tuning.restAcceleration {
            accelerationTime += accelerationInterval
        } else {
            accelerationTime = 0
        }
    }

    mutating func reset() {
        rates.reset()
        accelerations.reset()
        rateTime = 0
        accelerationTime = 0
    }
}
