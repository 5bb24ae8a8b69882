internal import Glibc

/// Orientation from gyroscope, accelerometer and magnetometer, after the VQF algorithm (see `MotionTuning`).
///
/// The gyroscope alone turns a frame that drifts slowly. In that frame acceleration is low-passed: what is left points up,
/// and corrects the inclination. The magnetometer corrects the heading only, so a magnet never tilts the device. Frame:
/// sensor to earth, ENU; at rest, face up, acceleration is +1 g on z.
struct MotionFilter: Sendable {
    let tuning: MotionTuning
    private var turned = Quaternion.identity
    private var levelled = Quaternion.identity
    /// From the arbitrary heading to magnetic north.
    private(set) var headingOffset = 0.0
    private(set) var bias: GyroscopeBias
    private(set) var rest: RestDetector
    private(set) var field: MagneticField
    private var lowPass: VectorLowPass
    private var rowFilter: (VectorLowPass, VectorLowPass, VectorLowPass)
    private var biasFilter: VectorLowPass
    private var accelerationInterval = 0.01
    private var headingGain = 0.0
    private var firstHeadingGain = 1.0
    private var rejected = 0.0
    private var fieldInterval = 0.01
    private var lastRate = Vector.zero
    private var lastGiven = Vector.zero
    private var hasRate = false
    /// How far the magnetometer's heading was off, low-passed, in radians.
    private(set) var headingDoubt = Double.pi
    private(set) var hasLevel = false
    /// The length of the mean acceleration in the filter's frame: gravity, when all sensors agree.
    private(set) var level = 0.0

    init(_ tuning: MotionTuning = MotionTuning()) {
        self.tuning = tuning
        bias = GyroscopeBias(tuning)
        rest = RestDetector(tuning)
        field = MagneticField(tuning)
        lowPass = VectorLowPass(time: tuning.inclinationTime)
        let row = VectorLowPass(time: tuning.inclinationTime)
        rowFilter = (row, row, row)
        biasFilter = row
    }

    /// Sensor to earth with an arbitrary heading.
    var attitude: Quaternion { levelled * turned }
    /// The rate without bias, in rad/s.
    var rate: Vector { lastRate }
    /// For how long the field has been left out, in seconds.
    var rejectedTime: Double { rejected }
    /// Whether the magnetometer has given a heading.
    var hasHeading: Bool { firstHeadingGain < 1 }

    /// Sets the gyroscope's interval in seconds.
    mutating func set(rateInterval: Double) {
        rest.set(rateInterval: rateInterval)
    }

    /// Sets the accelerometer's interval in seconds.
    mutating func set(accelerationInterval: Double) {
        self.accelerationInterval = accelerationInterval
        rest.set(accelerationInterval: accelerationInterval)
        bias.set(interval: accelerationInterval)
        lowPass.set(interval: accelerationInterval)
        rowFilter.0.set(interval: accelerationInterval)
        rowFilter.1.set(interval: accelerationInterval)
        rowFilter.2.set(interval: accelerationInterval)
        biasFilter.set(interval: accelerationInterval)
    }

    /// Sets the magnetometer's interval in seconds.
    mutating func set(fieldInterval: Double) {
        self.fieldInterval = fieldInterval
        field.set(interval: fieldInterval)
        headingGain = 1 - exp(-fieldInterval / tuning.headingTime)
    }

    /// Begins again with the orientation, after a gap or a jump; the bias is kept, with doubt.
    mutating func restart() {
        turned = .identity
        levelled = .identity
        headingOffset = 0
        hasLevel = false
        hasRate = false
        lowPass.reset()
        rowFilter.0.reset()
        rowFilter.1.reset()
        rowFilter.2.reset()
        biasFilter.reset()
        rest.reset()
        bias.doubt()
        firstHeadingGain = 1
        rejected = 0
        headingDoubt = .pi
    }

    /// Turns by the rate for so many seconds.
    @inline(__always)
    mutating func rotate(_ rate: Vector, seconds: Double) {
        rest.rotate(rate)
        let before = hasRate ? lastGiven : rate
        lastGiven = rate
        hasRate = true
        lastRate = rate - bias.value
        // The rate goes straight from one sample to the next, seen late by the gyroscope's own filter.
        let lead = min(0.5, tuning.gyroscopeDelay / seconds)
        let mean = rate * (0.5 + lead) + before * (0.5 - lead)
        turned = (turned * Quaternion.turn((mean - bias.value) * seconds)).normalized
    }

    /// Corrects the inclination by an acceleration in m/s^2.
    mutating func accelerate(_ acceleration: Vector) {
        rest.accelerate(acceleration)
        let smooth = levelled.rotate(lowPass.next(turned.rotate(acceleration)))
        let length = smooth.length
        guard length > 1e-6 else { return }
        level = length
        let up = smooth / length
        let w = ((up.z + 1) / 2).squareRoot()
        let correction =
            w > 1e-6
            ? Quaternion(w: w, v: Vector(0.5 * up.y / w, -0.5 * up.x / w, 0)) : Quaternion(w: 0, v: Vector(1, 0, 0))
        levelled = (correction * levelled).normalized
        hasLevel = true
        estimateBias(up)
    }

    private mutating func estimateBias(_ up: Vector) {
        let rows = attitude.rows
        let bias = bias.value
        // Both go through the low-pass of the acceleration, so that they fit its correction in time.
        let level = biasFilter.next(Vector(rows.0.dot(bias), rows.1.dot(bias), 0))
        let smooth = (rowFilter.0.next(rows.0), rowFilter.1.next(rows.1), rowFilter.2.next(rows.2))
        if rest.isResting {
            self.bias.rest(rest.rate)
        } else {
            let error = Vector(
                -up.y / accelerationInterval + level.x - smooth.0.dot(bias),
                up.x / accelerationInterval + level.y - smooth.1.dot(bias),
                -smooth.2.dot(bias)
            )
            self.bias.motion(smooth, error)
        }
    }

    /// Corrects the heading by a magnetic field.
    mutating func magnetize(_ magnetic: Vector) {
        let earth = attitude.rotate(magnetic)
        field.add(earth, rate: lastRate.length)
        guard earth.x != 0 || earth.y != 0 else { return }
        var off = atan2(earth.x, earth.y) - headingOffset
        if off > .pi { off -= 2 * .pi } else if off < -.pi { off += 2 * .pi }
        var gain = headingGain
        if field.isDisturbed {
            if rejected <= tuning.longestRejection {
                rejected += fieldInterval
                gain = 0
            } else {
                gain /= tuning.rejectionFactor
            }
        } else {
            rejected = max(0, rejected - tuning.rejectionFactor * fieldInterval)
        }
        // At the start the mean of what came so far is the heading.
        if firstHeadingGain > 0 {
            gain = max(gain, firstHeadingGain)
            firstHeadingGain = firstHeadingGain / (firstHeadingGain + 1)
            if firstHeadingGain < headingGain { firstHeadingGain = 0 }
        }
        headingOffset += gain * off
        if headingOffset > .pi { headingOffset -= 2 * .pi } else if headingOffset < -.pi { headingOffset += 2 * .pi }
        headingDoubt += headingGain * 3 * (abs(off) - headingDoubt)
    }
}
