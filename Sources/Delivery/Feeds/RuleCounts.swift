/// What a rule has done so far.
public struct RuleCounts: Sendable, Hashable {
    /// Points made.
    public var published = 0
    /// Windows whose value was within the dead band or unchanged.
    public var suppressed = 0
    /// Samples that came after their window was closed.
    public var late = 0
    /// Values that no point can hold: a text longer than a feed takes, a number beyond the range, a field that is not there.
    public var unusable = 0
    /// New beginnings after the time of the samples had gone back, as after `date -s`.
    public var restarts = 0

    /// Nothing done yet.
    public init() {}
}
