/// Measures the interval between a sensor's samples, and says when it has become another one.
struct IntervalMeter: Sendable {
    private var last: Int64?
    private var mean = 0.0
    private var count = 0
    private var told = 0.0

    /// The interval in seconds that was told last; 0 before.
    var interval: Double { told }

    /// Forgets the last sample, after a gap.
    mutating func restart() { last = nil }

    /// Takes a sample's time: the seconds since the one before, and the interval when it is new.
    @inline(__always)
    mutating func add(_ time: Int64) -> (seconds: Double, change: Double?) {
        guard let last else {
            self.last = time
            return (0, nil)
        }
        self.last = time
        let seconds = Double(time &- last) * 1e-9
        guard seconds > 0, seconds < 1 else { return (seconds, nil) }
        count += 1
        mean += (seconds - mean) / Double(min(count, 200))
        guard told > 0 else {
            told = mean
            return (seconds, mean)
        }
        guard count & 15 == 0, abs(mean - told) > 0.03 * told else { return (seconds, nil) }
        told = mean
        return (seconds, mean)
    }
}
