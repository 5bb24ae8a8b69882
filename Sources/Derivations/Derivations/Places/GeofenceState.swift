/// What is known about one circle, and what speaks for a change.
///
/// Inside at d <= r; outside at d - accuracy > r + margin; in between says nothing. A change needs two fixes in a row that
/// agree, 20 s apart: a wrong fix can claim 1.7 m. Before anything is known a single fix between them that disagrees is
/// taken for a wrong one.
struct GeofenceState: Sendable {
    enum Side: Character, Sendable {
        case unknown = "u"
        case inside = "i"
        case outside = "o"
    }

    /// A change that is not certain yet.
    private struct Hint: Sendable {
        var side: Side
        var since: Int64
        var fixes: Int
        /// How many fixes in a row did not agree, before anything was known.
        var against = 0
    }

    private(set) var side: Side
    /// When it became so.
    private(set) var since: Int64
    private var hint: Hint?

    init(side: Side = .unknown, since: Int64 = 0) {
        self.side = side
        self.since = since
    }

    /// Whether a fix at another place must be shown to it.
    var isWaiting: Bool { hint != nil }

    /// Takes what a fix says: inside, outside or (`unknown`) neither. Gives the side when it has changed.
    mutating func take(_ seen: Side, at time: Int64, dwell: Int64) -> Side? {
        guard seen != .unknown, seen != side else {
            if side == .unknown, hint != nil { return nil }
            hint = nil
            return nil
        }
        guard var hint, hint.side == seen || (side == .unknown && hint.against == 0) else {
            self.hint = Hint(side: seen, since: time, fixes: 1)
            return nil
        }
        guard hint.side == seen else {
            hint.against += 1
            self.hint = hint
            return nil
        }
        hint.fixes += 1
        hint.against = 0
        self.hint = hint
        guard hint.fixes >= 2, time &- hint.since >= dwell else { return nil }
        return set(seen, at: time)
    }

    /// What somebody else says who knows; nil when that is nothing new, or older than what is known.
    mutating func follow(_ side: Side, at time: Int64) -> Side? {
        guard time > since else { return nil }
        guard side != self.side else {
            since = time
            hint = nil
            return nil
        }
        return set(side, at: time)
    }

    private mutating func set(_ side: Side, at time: Int64) -> Side? {
        self.side = side
        since = time
        hint = nil
        return side
    }
}
