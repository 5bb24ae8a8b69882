/// Counts the steps of a walk whose period is known: peaks, one for each period, with weak ones filled in.
///
/// Of peaks closer than the refractory time the highest is the step, as in the Oxford counter (200 ms there; here a part of
/// the period, so that it fits slow and fast walkers).
struct StepTracker: Sendable {
    /// The place of the last step on the grid, or nil before the first.
    private(set) var last: Double?
    /// The height of the last peak that was taken.
    private(set) var lastHeight = 0.0
    private var height = 0.0
    private let share: Double

    private var before = 0.0
    private var middle = 0.0
    private var seen = 0

    init(_ tuning: StepTuning) {
        share = tuning.peakShare
    }

    /// Takes the smoothed value at `place`; gives how many steps it completes.
    mutating func add(_ value: Double, at place: Int, period: Double) -> Int {
        defer {
            before = middle
            middle = value
            seen += 1
        }
        guard seen >= 2, middle > 0, middle >= before, middle > value else { return 0 }
        let curve = before - 2 * middle + value
        let offset = curve < -1e-12 ? 0.5 * (before - value) / curve : 0
        return peak(middle, at: Double(place - 1) + offset, period: period)
    }

    private mutating func peak(_ value: Double, at place: Double, period: Double) -> Int {
        guard value > share * height else { return 0 }
        guard let last else {
            self.last = place
            lastHeight = value
            height = value
            return 1
        }
        let gap = (place - last) / period
        if gap < 0.6 {
            // The higher of two is the step.
            if value > height, gap > 0.3 { self.last = place }
            height += 0.1 * max(0, value - height)
            return 0
        }
        height += 0.2 * (value - height)
        lastHeight = value
        self.last = place
        // A step that was too weak to see lies between two that are whole periods apart.
        return gap < 3.6 ? max(1, Int(gap.rounded())) : 1
    }
}
