internal import DataPoints
internal import Diagnostics

/// How fast the rules may be, and how long the backlog takes.
extension PublisherStateMachine {
    private static let longBacklog = 20

    /// Points that wait and are not live.
    var backlogCount: Int {
        if settings.isPlain { return max(0, plain.backlog) }
        return lanes.reduce(0) { sum, lane in
            var live = lane.fresh.count
            if case .mqtt = lane.flight { live += 1 }
            return sum + max(0, lane.waiting - live)
        }
    }

    /// Slows the rules down when they want more than there is, and says so once.
    mutating func adaptIntervals() {
        guard let dataLimit = memory.budget.dataLimit, let plan = memory.budget.plan else { return }
        let backlog = backlogCount
        if backlog > Self.longBacklog { hasLongBacklog = true } else if backlog == 0 { hasLongBacklog = false }
        let others = max(0, memory.budget.foreign.used - (plan - (memory.budget.limit ?? plan)))
        let step = max(1, plan / 10)
        let allowed = dataLimit - (hasLongBacklog ? memory.budget.backlogLeast : 0) - (others + step - 1) / step * step
        let key = StretchKey(rules: settings.rules, allowed: max(1, allowed))
        guard key != stretchKey else { return }
        stretchKey = key
        let window = SpendingWindow.length.inSeconds
        let new = IntervalStretch(rules: settings.rules, allowed: Double(key.allowed) * 60 / window)
        guard new.intervals != stretch.intervals else { return }
        // The numbers move with the backlog and with others; a person hears of it when it begins.
        if stretch.intervals.isEmpty { actions.append(.report(.stretched(new))) }
        stretch = new
        actions.append(.stretch(new))
    }

    /// How long the backlog takes at the pace of now; nil while nothing is drained.
    var drainTime: Duration? {
        let backlog = backlogCount
        guard backlog > 0 else { return .zero }
        guard let limit = memory.budget.dataLimit else { return mqtt.phase == .up ? .zero : nil }
        guard settings.isPlain ? mayPublish : canDrain && (mayPublish || isFallback), limit > 0 else { return nil }
        let pace = Double(max(1, memory.budget.backlogMost)) / SpendingWindow.length.inSeconds
        return .seconds((Double(backlog) / pace).rounded(.up))
    }
}
