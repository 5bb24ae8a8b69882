internal import Samples

/// Whether a condition holds, sample by sample, with its hysteresis.
struct AlertJudge: Sendable {
    private let condition: AlertCondition
    /// Whether the last value that said anything was beyond the limit.
    private var isBeyond = false

    init(_ condition: AlertCondition, isBeyond: Bool) {
        self.condition = condition
        self.isBeyond = isBeyond
    }

    /// Whether the condition holds with this value; nil when the value says nothing.
    mutating func judge(_ value: Value) -> Bool? {
        switch condition {
        case .above(_, let limit, let hysteresis):
            guard let number = value.number else { return nil }
            isBeyond = number > (isBeyond ? limit - hysteresis : limit)
        case .below(_, let limit, let hysteresis):
            guard let number = value.number else { return nil }
            isBeyond = number < (isBeyond ? limit + hysteresis : limit)
        case .outside(_, let range, let hysteresis):
            guard let number = value.number else { return nil }
            let inset = isBeyond ? hysteresis : 0
            isBeyond = number < range.lowerBound + inset || number > range.upperBound - inset
        case .equal(_, let word):
            guard value != .missing else { return nil }
            isBeyond = AlertJudge.text(value) == word
        case .missing: return nil
        }
        return isBeyond
    }

    /// A value as people read it.
    static func text(_ value: Value) -> String {
        switch value {
        case .missing: ""
        case .real(let number): number == number.rounded() && number.magnitude < 1e15 ? "\(Int64(number))" : "\(number)"
        case .integer(let count): "\(count)"
        case .text(let text): text
        case .flag(let flag): flag ? "true" : "false"
        }
    }
}
