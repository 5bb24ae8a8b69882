/// Collects a window of samples that belong together, and says when it is of no use.
struct VibrationWindow: Sendable {
    /// What a sample did.
    enum Event: Equatable {
        case nothing
        /// The window is full.
        case full
    }

    let size: Int
    private let axisCount: Int
    private(set) var axes: [[Double]]
    private var times: [Int64] = []

    /// A longer time between two samples than so many usual ones is a gap.
    private static let gap = 2.5
    /// So many equal values in a row at the largest or smallest value of a window are a sensor at its limit.
    private static let saturated = 4

    init(size: Int, axisCount: Int) {
        self.size = size
        self.axisCount = axisCount
        axes = Array(repeating: [], count: axisCount)
        times.reserveCapacity(size)
    }

    /// When the last sample was.
    var last: Int64? { times.last }

    /// Samples a second over the window; nil when the times do not rise evenly enough to say so.
    var rate: Double? {
        guard let first = times.first, let last = times.last, last > first, times.count > 1 else { return nil }
        let mean = Double(last &- first) / Double(times.count - 1)
        var longest: Int64 = 0
        for (one, other) in zip(times, times.dropFirst()) { longest = max(longest, other &- one) }
        // Batches of a driver may have coarse times, but no sample is missing in them.
        return Double(longest) <= VibrationWindow.gap * mean || isBatched(mean) ? 1e9 / mean : nil
    }

    /// Whether many samples have the time of their batch: the steps are then all alike.
    private func isBatched(_ mean: Double) -> Bool {
        var steps: [Int64] = []
        for (one, other) in zip(times, times.dropFirst()) where other &- one > Int64(VibrationWindow.gap * mean) {
            steps.append(other &- one)
        }
        guard steps.count >= 4, let least = steps.min(), let most = steps.max() else { return false }
        return Double(most) < 1.5 * Double(least)
    }

    /// Whether an axis stood at the end of its range, or all stood still: no sensor is without noise.
    var isBroken: Bool {
        var moves = false
        for axis in axes {
            guard let least = axis.min(), let most = axis.max() else { continue }
            if least < most { moves = true }
            var run = 0
            var previous = Double.nan
            guard most - least > 0 else { continue }
            for value in axis {
                run = value == previous && (value == most || value == least) ? run + 1 : 1
                previous = value
                // A quantised signal at rest has runs too: only a swing of many steps is cut off.
                if run >= VibrationWindow.saturated, steps(axis) > 16 { return true }
            }
        }
        return !moves
    }

    private func steps(_ axis: [Double]) -> Int {
        Set(axis).count
    }

    /// Takes a sample.
    mutating func add(_ time: Int64, _ values: (x: Double, y: Double, z: Double)) -> Event {
        times.append(time)
        axes[0].append(values.x)
        if axisCount == 3 {
            axes[1].append(values.y)
            axes[2].append(values.z)
        }
        return times.count >= size ? .full : .nothing
    }

    /// Drops the older half.
    mutating func slide() {
        times.removeFirst(size / 2)
        for place in axes.indices { axes[place].removeFirst(size / 2) }
    }

    /// Drops all.
    mutating func clear() {
        times.removeAll(keepingCapacity: true)
        for place in axes.indices { axes[place].removeAll(keepingCapacity: true) }
    }
}
