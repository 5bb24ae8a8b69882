internal import Glibc

/// Knows the usual strength and dip of the earth's field here, and tells when the field now is another one.
struct MagneticField: Sendable {
    private let tuning: MotionTuning
    private var interval = 0.01
    private var now: VectorLowPass
    private var usualGain = 0.0
    /// The usual strength; 0 until it is known.
    private(set) var strength = 0.0
    private(set) var dip = 0.0
    private(set) var undisturbed = 0.0
    private(set) var isDisturbed = true
    private var candidateStrength = -1.0
    private var candidateDip = 0.0
    private var candidateTime = 0.0

    init(_ tuning: MotionTuning) {
        self.tuning = tuning
        now = VectorLowPass(time: tuning.fieldTime)
    }

    /// Whether the usual field is known.
    var isKnown: Bool { strength > 0 }

    mutating func set(interval: Double) {
        self.interval = interval
        now.set(interval: interval)
        usualGain = 1 - exp(-interval / tuning.usualFieldTime)
    }

    /// Takes the field in a frame whose z axis points up, and how fast the device turns.
    mutating func add(_ field: Vector, rate: Double) {
        let length = field.length
        guard length > 0 else { return }
        let smooth = now.next(Vector(length, -asin(max(-1, min(1, field.z / length))), 0))
        let (strengthNow, dipNow) = (smooth.x, smooth.y)
        if isNear(strengthNow, dipNow, strength, dip) {
            undisturbed += interval
            if undisturbed >= tuning.undisturbedTime {
                isDisturbed = false
                strength += usualGain * (strengthNow - strength)
                dip += usualGain * (dipNow - dip)
            }
        } else {
            undisturbed = 0
            isDisturbed = true
        }
        // Another field that stays the same while the device turns is the usual field of another place.
        guard isNear(strengthNow, dipNow, candidateStrength, candidateDip) else {
            candidateTime = 0
            candidateStrength = strengthNow
            candidateDip = dipNow
            return
        }
        if rate >= tuning.newFieldRate { candidateTime += interval }
        candidateStrength += usualGain * (strengthNow - candidateStrength)
        candidateDip += usualGain * (dipNow - candidateDip)
        let needed = isKnown ? tuning.newFieldTime : tuning.firstFieldTime
        if isDisturbed, candidateTime >= needed {
            strength = candidateStrength
            dip = candidateDip
            isDisturbed = false
            undisturbed = tuning.undisturbedTime
        }
    }

    private func isNear(_ strength: Double, _ dip: Double, _ usual: Double, _ usualDip: Double) -> Bool {
        abs(strength - usual) < tuning.fieldStrength * usual && abs(dip - usualDip) < tuning.fieldDip
    }
}
