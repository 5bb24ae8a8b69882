/// Finds shakes of a device in accelerations in m/s^2.
///
/// A shake is on while for half a second three quarters of the time the acceleration is above 13 m/s^2 (Square's
/// seismic, medium) and points to and fro: a steady pull, as on a roundabout, is none.
struct ShakeDetector: Sendable {
    /// What a shake does, as on a phone.
    enum Event: String, Equatable {
        case began
        case ended
        /// It went on for so long that nobody meant it: a vibration.
        case cancelled
    }

    private static let threshold = 13.0 * 13.0
    private static let span: Int64 = 500_000_000
    private static let shortest: Int64 = 300_000_000
    private static let share = 0.75
    private static let over = 0.25
    /// The mean vector of a shake is shorter than this part of the mean length.
    private static let steadiness = 0.75
    private static let longest: Int64 = 5_000_000_000
    /// One shake a second.
    private static let pause: Int64 = 1_000_000_000
    private static let room = 256

    private struct Entry: Sendable {
        var time: Int64
        var value: Vector
        var isAbove: Bool
    }

    private var ring = [Entry](repeating: Entry(time: 0, value: .zero, isAbove: false), count: ShakeDetector.room)
    private var head = 0
    private var count = 0
    private var above = 0
    private var began: Int64?
    private var isCancelled = false
    private var lastEnd = Int64.min
    private var late = 0

    /// Takes an acceleration; `isMagnitude` when its direction is not known.
    mutating func add(_ time: Int64, _ value: Vector, isMagnitude: Bool) -> Event? {
        if count > 0 {
            let distance = time.subtractingReportingOverflow(newest)
            if distance.overflow || distance.partialValue > ShakeDetector.span { return restart(time, value) }
            if distance.partialValue <= 0 {
                late += 1
                return late < 50 ? nil : restart(time, value)
            }
        }
        late = 0
        push(time, value)
        guard count >= 5, time &- ring[head].time >= ShakeDetector.shortest else { return nil }
        let part = Double(above) / Double(count)
        return judge(time, part, isMagnitude)
    }

    private var newest: Int64 { ring[(head + count - 1) & (ShakeDetector.room - 1)].time }

    private mutating func judge(_ time: Int64, _ part: Double, _ isMagnitude: Bool) -> Event? {
        if let start = began {
            if part < ShakeDetector.over {
                began = nil
                lastEnd = time
                defer { isCancelled = false }
                return isCancelled ? nil : .ended
            }
            guard !isCancelled, time &- start > ShakeDetector.longest else { return nil }
            isCancelled = true
            return .cancelled
        }
        guard part >= ShakeDetector.share, lastEnd == .min || time &- lastEnd >= ShakeDetector.pause,
            isMagnitude || goesToAndFro
        else { return nil }
        began = time
        return .began
    }

    private var goesToAndFro: Bool {
        var sum = Vector.zero
        var lengths = 0.0
        for place in 0..<count {
            let value = ring[(head + place) & (ShakeDetector.room - 1)].value
            sum += value
            lengths += value.length
        }
        return sum.length < ShakeDetector.steadiness * lengths
    }

    private mutating func push(_ time: Int64, _ value: Vector) {
        while count > 0, count == ShakeDetector.room || time &- ring[head].time > ShakeDetector.span {
            if ring[head].isAbove { above -= 1 }
            head = (head + 1) & (ShakeDetector.room - 1)
            count -= 1
        }
        let isAbove = value.dot(value) > ShakeDetector.threshold
        ring[(head + count) & (ShakeDetector.room - 1)] = Entry(time: time, value: value, isAbove: isAbove)
        count += 1
        if isAbove { above += 1 }
    }

    /// After a gap nothing is known of a shake that was on.
    private mutating func restart(_ time: Int64, _ value: Vector) -> Event? {
        count = 0
        above = 0
        late = 0
        lastEnd = .min
        push(time, value)
        defer {
            began = nil
            isCancelled = false
        }
        return began != nil && !isCancelled ? .cancelled : nil
    }
}
