/// The key of a `[[rule]]` table that a problem is about; the raw value is the key's spelling.
public enum RuleKey: String, Sendable, Hashable, CaseIterable {
    /// `stream`.
    case stream
    /// `field`.
    case field
    /// `fields`.
    case fields
    /// `feed`.
    case feed
    /// `reduce`.
    case reduce
    /// `every`.
    case every
    /// `dead_band`.
    case deadBand = "dead_band"
    /// `precision`.
    case precision
    /// `weight`.
    case weight
    /// `location`.
    case location
}

/// One thing that is wrong with one rule, with the key to point at.
public struct RuleProblem: Sendable, Hashable, CustomStringConvertible {
    /// The rule, counted from 0.
    public let rule: Int
    /// The key whose value is wrong.
    public let key: RuleKey
    /// What is wrong and what to do, one sentence or two.
    public let text: String

    /// The text alone: the configuration adds line and column.
    public var description: String { text }
}

/// Why a set of rules cannot be used: everything that is wrong with it.
public struct RulesError: Error, Sendable, CustomStringConvertible {
    /// At least one problem, in the order of the rules.
    public let problems: [RuleProblem]

    /// All problems, one a line.
    public var description: String { problems.map(\.text).joined(separator: "\n") }
}
