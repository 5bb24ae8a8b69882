public import DataPoints
internal import Diagnostics

/// How rules are slowed down when together they want more data points than there are.
public struct IntervalStretch: Sendable, Hashable {
    /// Points a minute that the rules want.
    public var wanted: Double
    /// Points a minute that they may have.
    public var allowed: Double
    /// The longer intervals, by feed; feeds that are not in it keep theirs.
    public var intervals: [FeedKey: Duration]

    /// Slows `rules` down, evenly by weight, until they fit into `allowed` points a minute.
    ///
    /// Each rule keeps the rate `weight * level` or its own, whichever is less, with the highest level that fits.
    public init(rules: [RuleDemand], allowed: Double) {
        self.allowed = allowed
        let rates = rules.map { 60 / max($0.interval.inSeconds, 0.001) }
        let weights = rules.map { max($0.weight, 0.001) }
        wanted = rates.reduce(0, +)
        intervals = [:]
        guard wanted > allowed * 1.000_001, !rules.isEmpty else { return }
        // Rules whose own rate is reached first, as the level rises, keep it and leave the rest to the others.
        let order = rules.indices.sorted { rates[$0] / weights[$0] < rates[$1] / weights[$1] }
        var left = max(allowed, 0.01)
        var weightLeft = weights.reduce(0, +)
        for index in order {
            let part = left * weights[index] / weightLeft
            if rates[index] > part {
                let interval = Duration.seconds(60 / part)
                intervals[rules[index].feed] = max(interval, intervals[rules[index].feed] ?? .zero)
            }
            left -= min(rates[index], part)
            weightLeft -= weights[index]
        }
    }
}

extension IntervalStretch: CustomStringConvertible {
    /// One sentence with the numbers.
    public var description: String {
        func number(_ value: Double) -> String { String((value * 10).rounded() / 10) }
        guard !intervals.isEmpty else { return "the rules' \(number(wanted)) points a minute fit into the budget" }
        let list = intervals.sorted { $0.key < $1.key }.map { "\($0.key) every \(number($0.value.inSeconds)) s" }
        return "the rules want \(number(wanted)) points a minute and \(number(allowed)) may be sent, so intervals are "
            + "longer: \(list.joined(separator: ", ")). Raise `every`, lower `weight`, or get a larger plan"
    }
}
