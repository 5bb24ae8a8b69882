/// "Notify me when": a condition and what is to be done.
public struct Alert: Sendable, Hashable {
    /// What it is called; each name once.
    public let name: String
    /// What it waits for.
    public let condition: AlertCondition
    /// What is done when it begins, and, where `tellsEnd`, when it ends.
    public let actions: [AlertAction]
    /// How long the condition must hold before it begins.
    public let lasting: Duration
    /// The least time between two beginnings, so that something that shakes cannot spend the budget.
    public let atMostEvery: Duration
    /// Whether the end is told too.
    public let tellsEnd: Bool

    /// Makes an alert; what cannot work is refused.
    public init(
        name: String,
        condition: AlertCondition,
        actions: [AlertAction],
        lasting: Duration = .zero,
        atMostEvery: Duration = .seconds(60),
        tellsEnd: Bool = true
    ) throws(AlertError) {
        self.name = name
        self.condition = condition
        self.actions = actions
        self.lasting = lasting
        self.atMostEvery = atMostEvery
        self.tellsEnd = tellsEnd
        try check()
    }

    private func check() throws(AlertError) {
        guard !name.isEmpty, name.utf8.count <= 64 else {
            throw AlertError("The alert \"\(name)\" needs a name of 1 to 64 bytes.")
        }
        guard !actions.isEmpty else { throw AlertError("The alert \(name) does nothing. Give it an action.") }
        guard lasting >= .zero, lasting <= .seconds(86_400), atMostEvery >= .seconds(1),
            atMostEvery <= .seconds(86_400 * 7)
        else {
            throw AlertError("The alert \(name) must last 0 s to 24 h, and may begin at most every 1 s to 7 d.")
        }
        let isSound =
            switch condition {
            case .above(_, let limit, let hysteresis), .below(_, let limit, let hysteresis):
                limit.isFinite && hysteresis >= 0 && hysteresis.isFinite
            case .outside(_, let range, let hysteresis):
                range.lowerBound.isFinite && range.upperBound.isFinite && hysteresis >= 0
                    && 2 * hysteresis <= range.upperBound - range.lowerBound
            case .missing(_, let after): after >= .seconds(1) && after <= .seconds(86_400 * 7)
            case .equal(_, let word): !word.isEmpty
            }
        guard isSound else {
            throw AlertError(
                "The limits of the alert \(name) are none: numbers, a hysteresis that fits into the range, 1 s to 7 d."
            )
        }
    }
}
