internal import Glibc

/// Feeds the motion filter with what can be believed, and knows when its answer can be.
struct MotionTracker: Sendable {
    /// The sensors, by their place in a merger.
    enum Sensor {
        static let gyroscope = 0
        static let accelerometer = 1
        static let magnetometer = 2
    }

    private(set) var filter = MotionFilter()
    private(set) var acceleration = Vector.zero
    private(set) var magnetic: Vector?
    private var unit = AccelerationUnit()
    private var intervals = (IntervalMeter(), IntervalMeter(), IntervalMeter())
    private var stuck = (StuckSensor(), StuckSensor(), StuckSensor())
    private var doubt = MotionTracker.settling
    private var lastAcceleration: Int64?
    private var lastMagnetic: Int64 = .min
    private var fieldLevel = 0.0

    /// After a fault the answer must have been right for so long, in seconds.
    private static let settling = 0.5
    /// A gap of more than so many seconds is not bridged.
    private static let longestGap = 0.5
    /// The mean acceleration in the filter's frame is gravity; farther off than this part, something is wrong.
    private static let tolerance = 0.15
    private static let gravity = 9.80665

    /// Whether the attitude can be believed.
    var isKnown: Bool { doubt <= 0 && filter.hasLevel }
    /// Whether the heading can be believed: a field of the earth's size was seen lately.
    var isHeadingKnown: Bool { isKnown && filter.hasHeading && magnetic != nil && (15...100).contains(fieldLevel) }

    /// Forgets the orientation, when the clock was set back.
    mutating func restart() {
        filter.restart()
        intervals.0.restart()
        intervals.1.restart()
        intervals.2.restart()
        lastAcceleration = nil
        magnetic = nil
        lastMagnetic = .min
        fail()
    }

    private mutating func fail() { doubt = MotionTracker.settling }

    /// Takes a sample; true when it was the gyroscope's, and there is a new answer.
    mutating func add(_ entry: SampleMerger.Entry) -> Bool {
        switch entry.channel {
        case Sensor.gyroscope: return rotate(entry.time, entry.value)
        case Sensor.accelerometer: accelerate(entry.time, entry.value)
        default: magnetize(entry.time, entry.value)
        }
        return false
    }

    private mutating func rotate(_ time: Int64, _ rate: Vector) -> Bool {
        let (seconds, change) = intervals.0.add(time)
        if let change { filter.set(rateInterval: change) }
        guard seconds > 0, intervals.0.interval > 0 else { return false }
        if seconds > MotionTracker.longestGap {
            filter.restart()
            fail()
            return true
        }
        stuck.0.add(rate, seconds: seconds, large: 4)
        if stuck.0.isClipped || (stuck.0.isStuck && !filter.rest.isResting) { fail() }
        filter.rotate(rate, seconds: seconds)
        // Without an accelerometer nothing holds the inclination.
        if let last = lastAcceleration, Double(time &- last) * 1e-9 > 1 { fail() }
        if Double(time &- lastMagnetic) * 1e-9 > 2 { magnetic = nil }
        doubt -= seconds
        return true
    }

    private mutating func accelerate(_ time: Int64, _ given: Vector) {
        let (seconds, change) = intervals.1.add(time)
        if let change { filter.set(accelerationInterval: change) }
        lastAcceleration = time
        unit.add(given.length, seconds: seconds)
        guard let factor = unit.factor else {
            fail()
            return
        }
        acceleration = given * factor
        guard intervals.1.interval > 0 else { return }
        stuck.1.add(acceleration, seconds: seconds, large: 15)
        // A clipped acceleration pulls to the wrong side: it is left out.
        if stuck.1.isClipped { return }
        if stuck.1.isStuck, !filter.rest.turnsNot { fail() }
        filter.accelerate(acceleration)
        let level = filter.level / MotionTracker.gravity
        if abs(level - 1) > MotionTracker.tolerance { fail() }
    }

    private mutating func magnetize(_ time: Int64, _ field: Vector) {
        let (seconds, change) = intervals.2.add(time)
        if let change { filter.set(fieldInterval: change) }
        stuck.2.add(field, seconds: max(0, seconds), large: .infinity)
        // A magnetometer that hangs while the device turns would drag the heading along.
        if stuck.2.isStuck, !filter.rest.turnsNot { return }
        magnetic = field
        lastMagnetic = time
        guard intervals.2.interval > 0, filter.hasLevel else { return }
        fieldLevel += (field.length - fieldLevel) * (fieldLevel == 0 ? 1 : 0.05)
        filter.magnetize(field)
    }
}
