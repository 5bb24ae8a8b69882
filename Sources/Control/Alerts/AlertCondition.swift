public import Samples

/// What an alert waits for.
public enum AlertCondition: Sendable, Hashable {
    /// A field is above a limit; it is over once the field is below `limit - hysteresis`.
    case above(AlertField, limit: Double, hysteresis: Double)
    /// A field is below a limit; it is over once the field is above `limit + hysteresis`.
    case below(AlertField, limit: Double, hysteresis: Double)
    /// A field is outside a range; it is over once the field is inside by `hysteresis`.
    case outside(AlertField, range: ClosedRange<Double>, hysteresis: Double)
    /// No sample of a stream came for so long, or its source says that it is missing.
    case missing(Name, after: Duration)
    /// A field is a certain word: `event` of `geofence` is `enter`, `proximity` of `beacons` is `near`, a flag is `true`.
    case equal(AlertField, word: String)

    /// The stream that is looked at.
    public var stream: Name {
        switch self {
        case .above(let field, _, _), .below(let field, _, _), .outside(let field, _, _), .equal(let field, _):
            field.stream
        case .missing(let stream, _): stream
        }
    }

    /// The field that is looked at; nil where samples alone count.
    public var field: AlertField? {
        switch self {
        case .above(let field, _, _), .below(let field, _, _), .outside(let field, _, _), .equal(let field, _): field
        case .missing: nil
        }
    }
}

/// A field of a stream, perhaps of some of its samples only.
public struct AlertField: Sendable, Hashable {
    /// The stream.
    public let stream: Name
    /// The field.
    public let name: Name
    /// Only samples that have this word in that field count: those whose `region` is `home`.
    public let only: Selection?

    /// A word that a field must have.
    public struct Selection: Sendable, Hashable {
        /// The field.
        public let field: Name
        /// The word.
        public let word: String

        /// Makes a selection.
        public init(_ field: Name, _ word: String) {
            self.field = field
            self.word = word
        }
    }

    /// Makes a field.
    public init(_ stream: Name, _ name: Name, only: Selection? = nil) {
        self.stream = stream
        self.name = name
        self.only = only
    }
}
