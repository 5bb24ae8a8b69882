internal import Diagnostics

/// Counts what happened in the last minute. Pure: it is told the time.
struct RollingWindow: Sendable {
    private var entries: [(at: BootInstant, count: Int)] = []
    private var sum = 0
    private let length: Duration

    init(length: Duration = .seconds(60)) {
        self.length = length
    }

    /// What is in the window at `now`.
    mutating func count(at now: BootInstant) -> Int {
        let firstKept = entries.firstIndex { $0.at.duration(to: now) < length } ?? entries.endIndex
        for entry in entries[..<firstKept] { sum -= entry.count }
        entries.removeFirst(firstKept)
        return sum
    }

    /// Counts `count` more.
    mutating func add(_ count: Int = 1, at now: BootInstant) {
        sum += count
        if let last = entries.last, last.at == now {
            entries[entries.count - 1].count += count
        } else {
            entries.append((now, count))
        }
    }

    /// How long after `now` there is room for `count` more below `limit`; zero when there is room at once, and the
    /// window's whole length when there never is.
    mutating func wait(for count: Int, below limit: Int, at now: BootInstant) -> Duration {
        var excess = self.count(at: now) + count - limit
        guard excess > 0 else { return .zero }
        for entry in entries {
            excess -= entry.count
            if excess <= 0 { return length - entry.at.duration(to: now) }
        }
        return length
    }
}
