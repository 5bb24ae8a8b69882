internal import Samples

/// Lets through the fixes that a run tracker may count, and finds gaps and jumps between them.
struct FixFilter: Sendable {
    /// What a fix is.
    enum Verdict {
        /// It does not count.
        case ignore
        /// It follows the last one.
        case follow
        /// It counts, but nothing is known about how one came here: another place, or a long time later.
        case restart
    }

    private let tuning: RunTuning
    private var last: LocationFix?
    /// A fix too far away to be true, and how many since agree with it.
    private var jump: (fix: LocationFix, count: Int)?
    /// The last intervals in seconds.
    private var intervals: [Double] = []
    private var next = 0

    /// So many fixes in a row at another place are a jump that is believed.
    private static let believed = 5
    private static let kept = 15

    init(_ tuning: RunTuning) {
        self.tuning = tuning
    }

    /// The usual seconds between two fixes, or nil before there are three.
    var usualInterval: Double? {
        guard intervals.count >= 3 else { return nil }
        return intervals.sorted()[intervals.count / 2]
    }

    /// Forgets the last fix.
    mutating func restart() {
        last = nil
        jump = nil
    }

    mutating func judge(_ fix: LocationFix) -> Verdict {
        if let accuracy = fix.accuracy, accuracy > tuning.accuracy { return .ignore }
        guard let last else {
            self.last = fix
            return .restart
        }
        let seconds = fix.seconds(since: last)
        guard seconds >= tuning.interval else { return .ignore }
        let metres = last.place.distance(to: fix.place)
        guard metres >= tuning.leg else { return .ignore }
        guard metres <= tuning.fastest * seconds else { return judge(jumped: fix) }
        jump = nil
        self.last = fix
        let isGap = seconds > longest && metres > RunTuning.harmlessGap
        if !isGap { note(seconds) }
        return isGap ? .restart : .follow
    }

    /// The longest time between two fixes that is no gap.
    private var longest: Double {
        if let gap = tuning.gap { return gap }
        guard let usual = usualInterval else { return RunTuning.gaps.upperBound }
        return min(max(10 * usual, RunTuning.gaps.lowerBound), RunTuning.gaps.upperBound)
    }

    private mutating func note(_ seconds: Double) {
        if intervals.count < FixFilter.kept {
            intervals.append(seconds)
        } else {
            intervals[next] = seconds
            next = (next + 1) % FixFilter.kept
        }
    }

    /// A single fix at another place is wrong; several there that agree are right.
    private mutating func judge(jumped fix: LocationFix) -> Verdict {
        guard let jump, fix.seconds(since: jump.fix) > 0,
            jump.fix.place.distance(to: fix.place) <= tuning.fastest * fix.seconds(since: jump.fix)
        else {
            self.jump = (fix, 1)
            return .ignore
        }
        self.jump = (fix, jump.count + 1)
        guard jump.count + 1 >= FixFilter.believed else { return .ignore }
        self.jump = nil
        last = fix
        return .restart
    }
}
