/// Lets through the intervals between normal beats, and says which of them follow one another.
///
/// An interval that differs by more than a fifth from the middle of the last five normal ones is an ectopic beat, or one
/// that was missed (Malik's rule, against the median, so that the pause after an early beat does not spoil the next).
/// Several in a row that agree with one another are a new rhythm.
struct BeatFilter: Sendable {
    /// What an interval is.
    enum Verdict: Equatable {
        /// Of a normal beat; `true` when the one before was normal too, so that their difference counts.
        case normal(follows: Bool)
        case rejected
    }

    private var recent: [Double] = []
    private var rejected: [Double] = []
    private var follows = false

    /// 30 to 200 beats a minute, as seconds: what a heart can do.
    static let range = 0.3...2.0
    private static let share = 0.2
    private static let kept = 5

    /// The next interval does not follow the last one: something is missing between them.
    mutating func interrupt() {
        follows = false
    }

    mutating func judge(_ interval: Double) -> Verdict {
        guard BeatFilter.range.contains(interval) else {
            follows = false
            return .rejected
        }
        if recent.count >= 3 {
            let middle = median(recent)
            if abs(interval - middle) > BeatFilter.share * middle { return reject(interval) }
        }
        rejected.removeAll(keepingCapacity: true)
        recent.append(interval)
        if recent.count > BeatFilter.kept { recent.removeFirst() }
        defer { follows = true }
        return .normal(follows: follows)
    }

    private mutating func reject(_ interval: Double) -> Verdict {
        follows = false
        rejected.append(interval)
        guard rejected.count >= BeatFilter.kept else { return .rejected }
        let middle = median(rejected)
        if rejected.allSatisfy({ abs($0 - middle) <= BeatFilter.share * middle }) {
            recent = rejected
            rejected.removeAll(keepingCapacity: true)
            return .normal(follows: false)
        }
        rejected.removeFirst()
        return .rejected
    }

    private func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}
