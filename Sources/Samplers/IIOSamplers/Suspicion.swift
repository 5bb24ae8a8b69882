internal import Diagnostics
internal import Samples

/// Looks at readings that are possible and cannot be true, and tells each once.
struct Suspicion {
    private var rest = RestCheck()
    private var stuck: StuckCheck
    private let checksRest: Bool
    private let checksStuck: Bool

    init(_ plan: StreamPlan) {
        let names = plan.stream.fields.map(\.name.text)
        checksRest = plan.kind.stream == "accelerometer" && names == ["x", "y", "z"]
        checksStuck = plan.kind.stream == "light"
        stuck = StuckCheck()
    }

    /// Whether there is anything to look at still.
    var isWatching: Bool { checksStuck || (checksRest && !rest.isDone) }

    /// What to tell of this sample, if anything.
    mutating func look(at values: [Value], time: Timestamp) -> String? {
        if checksRest, let text = rest.look(at: values) { return text }
        if checksStuck, let first = values.first?.number { return stuck.look(at: first, time: time) }
        return nil
    }
}

/// Whether an accelerometer that is at rest feels gravity.
struct RestCheck {
    private static let needed = 50
    private var count = 0
    private var mean = 0.0
    private var squares = 0.0
    private(set) var isDone = false

    /// Text when it is at rest and feels something else than gravity; only once.
    mutating func look(at values: [Value]) -> String? {
        guard !isDone else { return nil }
        let square = values.reduce(0.0) { $0 + ($1.number ?? .nan) * ($1.number ?? .nan) }
        let length = square.squareRoot()
        guard length.isFinite else { return nil }
        count += 1
        let difference = length - mean
        mean += difference / Double(count)
        squares += difference * (length - mean)
        guard count >= RestCheck.needed else { return nil }
        let spread = (squares / Double(count)).squareRoot()
        guard spread < 0.02 * mean + 0.05 else {
            // It moves: look again later.
            (count, mean, squares) = (0, 0, 0)
            return nil
        }
        isDone = true
        guard !(8...12).contains(mean) else { return nil }
        let shown = (mean * 100).rounded() / 100
        return "at rest it measures \(shown) m/s^2 where gravity is 9.81: the driver's scale or byte order is wrong. "
            + "Set factor to put a scale right"
    }
}

/// Whether a light sensor gives one and the same number for very long.
struct StuckCheck {
    /// Light always changes a little, but in the dark.
    static let patience = Duration.seconds(1_800)

    private var value = Double.nan
    private var since = Timestamp(nanoseconds: 0)
    private var count = 0
    private var isTold = false

    /// Text when the number has not changed for too long; once for each such time.
    mutating func look(at number: Double, time: Timestamp) -> String? {
        guard number == value, number != 0, time >= since else {
            (value, since, count, isTold) = (number, time, 0, false)
            return nil
        }
        count += 1
        guard !isTold, count >= 60, time - since >= StuckCheck.patience else { return nil }
        isTold = true
        return "it has read exactly \(number) for half an hour: the sensor may be stuck. Reload its driver"
    }
}
