internal import Diagnostics

/// What a person walked between two moments, from the recorded totals of a pedometer.
///
/// A total that falls begins again at zero: the pedometer was restarted.
struct StepTotals: Sendable, Equatable {
    /// Between steps farther apart than this lies a pause.
    private static let pause: Duration = .seconds(4)

    private(set) var steps: Int64 = 0
    private(set) var metres = 0.0
    /// Time spent walking.
    private(set) var active: Duration = .zero
    private(set) var cadence: Double?
    private(set) var pace: Double?
    private(set) var last: Timestamp?
    private var count: Int64?
    private var distance = 0.0

    /// Takes the last totals before the interval; they count nothing.
    mutating func begin(count: Int64, distance: Double?) {
        self.count = count
        self.distance = distance ?? 0
    }

    /// Takes the totals at a moment; older ones than the last are ignored.
    mutating func add(_ time: Timestamp, count: Int64, distance: Double?, cadence: Double?, pace: Double?) {
        if let last, time < last { return }
        // Nothing is known from before: the sample itself is one step.
        let before = self.count ?? max(0, count - 1)
        let new = count >= before ? count - before : count
        if let distance {
            let start = count >= before && self.count != nil ? self.distance : self.count == nil ? distance : 0
            metres += max(0, distance - start)
            self.distance = distance
        }
        if new > 0 {
            steps += new
            if let last, time - last <= StepTotals.pause { active += time - last }
            last = time
        }
        self.count = count
        self.cadence = cadence
        self.pace = pace
    }

    /// Seconds a metre over the time spent walking; nil when nothing was walked.
    var activePace: Double? { metres > 0 && active > .zero ? active.inSeconds / metres : nil }
}
