/// An amount spread evenly over a time.
struct Interval {
    /// Seconds since 1970.
    var start: Int64
    /// In seconds.
    var duration: Int32
    /// The place of its source.
    var source: Int32
    var amount: Double

    var end: Int64 { start + Int64(duration) }
}

/// Adds up intervals of several sources without counting a time twice: of the sources that cover a moment, only the one
/// that is believed most counts, for that moment.
///
/// A phone in the pocket and a watch on the wrist count the same steps, so their sum is nearly the double; the better of
/// the two alone misses what only the other had. The statistics of Apple's Health merge likewise.
struct IntervalMerge {
    /// Takes an amount that counts, and the time for which it stands.
    typealias Emit = (_ amount: Double, _ start: Int64, _ end: Int64) -> Void

    /// The rank of each source: the lowest is believed most.
    private let ranks: [Int]
    private var active: [Interval] = []
    private var now = Int64.min

    /// At most so many at one time; of more, those that end first are given up.
    static let limit = 256

    init(ranks: [Int]) {
        self.ranks = ranks
    }

    /// Takes the next interval; they come in the order of their beginnings.
    mutating func add(_ interval: Interval, _ emit: Emit) {
        advance(to: interval.start, emit)
        now = interval.start
        let rank = ranks[Int(interval.source)]
        if interval.duration == 0 {
            let isCovered = active.contains { ranks[Int($0.source)] < rank }
            if !isCovered { emit(interval.amount, interval.start, interval.start) }
            return
        }
        if active.count >= Self.limit, let first = active.indices.min(by: { active[$0].end < active[$1].end }) {
            active.remove(at: first)
        }
        active.append(interval)
    }

    /// Ends: there is no further interval.
    mutating func finish(_ emit: Emit) {
        advance(to: .max, emit)
    }

    private mutating func advance(to moment: Int64, _ emit: Emit) {
        while now < moment, let nextEnd = active.min(by: { $0.end < $1.end })?.end {
            let until = min(nextEnd, moment)
            if until > now {
                var best = Int.max
                for interval in active { best = min(best, ranks[Int(interval.source)]) }
                var amount = 0.0
                for interval in active where ranks[Int(interval.source)] == best {
                    amount += interval.amount * (Double(until - now) / Double(interval.duration))
                }
                emit(amount, now, until)
            }
            now = until
            active.removeAll { $0.end <= until }
        }
    }
}
