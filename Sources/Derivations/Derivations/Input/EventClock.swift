internal import Diagnostics

/// Tells late samples from a clock that was set back, by the times in the samples alone.
///
/// Late samples never count. A clock that was set back goes on from there: many samples in a row, each later than the one
/// before, all earlier than the newest, that arrive as slowly as their times say. A backlog arrives all at once.
struct EventClock: Sendable {
    /// What a time means.
    enum Order {
        /// Later than all before.
        case next
        /// Not later than the newest: it does not count.
        case late
        /// The clock was set back: what was known before is of another time.
        case setBack
    }

    /// The newest time, in nanoseconds.
    private(set) var newest: Int64?
    private var run: Run?

    /// Samples in a row that are not later than the newest.
    private struct Run {
        var first: Int64
        var last: Int64
        var count: Int
        var firstArrival: Int64
    }

    /// So many in a row mean that the clock was set back.
    private static let believed = 20

    /// Times before 1824 and after 2115 are none: so the difference of any two fits into an `Int64`.
    private static let times = -4_600_000_000_000_000_000...4_600_000_000_000_000_000 as ClosedRange<Int64>

    /// Takes the next time.
    mutating func take(_ time: Int64, arrival: BootInstant) -> Order {
        guard EventClock.times.contains(time) else { return .late }
        guard let newest, time <= newest else {
            self.newest = time
            run = nil
            return .next
        }
        guard var run, time > run.last else {
            run = Run(first: time, last: time, count: 1, firstArrival: arrival.nanoseconds)
            return .late
        }
        run.last = time
        run.count += 1
        self.run = run
        guard run.count >= EventClock.believed else { return .late }
        // A recording that is replayed has no arrival: its order is all there is.
        let arrived = arrival.nanoseconds &- run.firstArrival
        let hasArrival = arrival.nanoseconds != 0
        guard !hasArrival || Double(arrived) > 0.5 * Double(time &- run.first) else { return .late }
        self.newest = time
        self.run = nil
        return .setBack
    }

    /// Forgets everything: the next time is right, whatever it is.
    mutating func reset() {
        self = EventClock()
    }
}
