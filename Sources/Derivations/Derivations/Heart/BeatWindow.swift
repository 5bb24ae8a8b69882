/// The normal intervals of the last minutes, and how much they vary.
struct BeatWindow: Sendable {
    private struct Beat: Sendable {
        var time: Int64
        var interval: Double
        /// The difference to the one before, when that counts.
        var change: Double?
        var isNormal: Bool
    }

    private var beats: [Beat] = []
    private let length: Int64
    /// Five minutes of 200 beats a minute.
    private static let most = 1_200

    init(seconds: Double) {
        length = Int64(seconds * 1e9)
    }

    mutating func add(_ interval: Double, change: Double?, isNormal: Bool, at time: Int64) {
        beats.append(Beat(time: time, interval: interval, change: change, isNormal: isNormal))
        let first = beats.firstIndex { $0.time > time &- length } ?? beats.count
        beats.removeFirst(max(first, beats.count - BeatWindow.most))
    }

    mutating func clear() {
        beats.removeAll(keepingCapacity: true)
    }

    /// How many intervals are normal.
    var normal: Int { beats.count { $0.isNormal } }
    /// How many were rejected.
    var rejected: Int { beats.count - normal }

    /// The root mean square of successive differences, in seconds.
    var rmssd: Double? {
        var sum = 0.0
        var count = 0
        for beat in beats {
            guard let change = beat.change else { continue }
            sum += change * change
            count += 1
        }
        return count >= BeatWindow.fewest ? (sum / Double(count)).squareRoot() : nil
    }

    /// The standard deviation of the normal intervals, in seconds.
    var sdnn: Double? {
        let intervals = beats.filter(\.isNormal).map(\.interval)
        guard intervals.count >= BeatWindow.fewest else { return nil }
        let mean = intervals.reduce(0, +) / Double(intervals.count)
        return (intervals.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(intervals.count - 1)).squareRoot()
    }

    /// Fewer say nothing.
    private static let fewest = 20
}
