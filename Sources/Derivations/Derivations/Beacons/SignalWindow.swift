/// The signal strengths of one beacon in the last seconds, and what they are in the middle.
///
/// The mean of 20 s without the highest and lowest tenth (AltBeacon's filter). When the last four seconds differ from that
/// by more than chance would, the beacon has moved: older ones are dropped.
struct SignalWindow: Sendable {
    private var samples: [(time: Int64, value: Double)] = []

    /// When it was last found that the beacon has moved.
    private(set) var moved: Int64?

    /// How long a strength counts.
    private static let length: Int64 = 20_000_000_000
    /// How many seconds tell that a beacon has moved.
    private static let recent: Int64 = 4_000_000_000
    /// A beacon sends up to ten times a second: that, and some more.
    private static let most = 256
    /// The least spread that is believed, in dB: a window of few equal values knows nothing.
    private static let leastSpread = 3.0

    /// The newest sample's time.
    var newest: Int64? { samples.last?.time }
    /// How many there are.
    var count: Int { samples.count }

    mutating func add(_ value: Double, at time: Int64) {
        if let newest, time < newest { return }
        samples.append((time, value))
        let limit = time &- SignalWindow.length
        let old = samples.firstIndex { $0.time > limit } ?? 0
        samples.removeFirst(max(old, samples.count - SignalWindow.most))
        dropOld(at: time)
    }

    private mutating func dropOld(at time: Int64) {
        let split = samples.firstIndex { $0.time > time &- SignalWindow.recent } ?? 0
        let older = samples[..<split]
        let recent = samples[split...]
        guard older.count >= 4, recent.count >= 3 else { return }
        let difference = abs(mean(older) - mean(recent))
        let spread = max(SignalWindow.leastSpread, deviation(older))
        let error = spread * (1 / Double(older.count) + 1 / Double(recent.count)).squareRoot()
        // Four standard errors: by chance once in 16,000 looks.
        guard difference > 4 * error else { return }
        samples.removeFirst(split)
        moved = time
    }

    /// The mean without the highest and lowest tenth, and its standard error.
    var middle: (value: Double, error: Double) {
        let sorted = samples.map(\.value).sorted()
        // At least one of each side: a single sighting of before a move would weigh much in a short window.
        let cut = sorted.count < 4 ? 0 : max(1, sorted.count / 10)
        let kept = sorted[cut..<(sorted.count - cut)]
        let spread = max(SignalWindow.leastSpread, deviation(samples[...]))
        return (kept.reduce(0, +) / Double(kept.count), spread / Double(sorted.count).squareRoot())
    }

    private func mean(_ part: ArraySlice<(time: Int64, value: Double)>) -> Double {
        part.reduce(0) { $0 + $1.value } / Double(part.count)
    }

    private func deviation(_ part: ArraySlice<(time: Int64, value: Double)>) -> Double {
        guard part.count > 1 else { return 0 }
        let middle = mean(part)
        let squares = part.reduce(0) { $0 + ($1.value - middle) * ($1.value - middle) }
        return (squares / Double(part.count - 1)).squareRoot()
    }
}
