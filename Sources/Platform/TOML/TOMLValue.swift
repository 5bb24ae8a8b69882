/// A value of a TOML text, with the place where it stands.
public enum TOMLValue: Sendable, Hashable {
    /// A text.
    case string(String, at: TOMLPosition)
    /// A whole number.
    case integer(Int64, at: TOMLPosition)
    /// A number; may be infinite or not a number, which TOML can write.
    case float(Double, at: TOMLPosition)
    /// True or false.
    case boolean(Bool, at: TOMLPosition)
    /// A date, a time of day or both, as ISO 8601 text.
    case date(String, at: TOMLPosition)
    /// A list.
    case array([TOMLValue], at: TOMLPosition)
    /// A table.
    case table(TOMLTable)

    /// Where the value starts.
    public var position: TOMLPosition {
        switch self {
        case .string(_, let position), .integer(_, let position), .float(_, let position), .boolean(_, let position),
            .date(_, let position), .array(_, let position):
            position
        case .table(let table): table.position
        }
    }

    /// What the value is, with its article, for the sentence of an error: `a whole number`.
    public var kind: String {
        switch self {
        case .string: "a text"
        case .integer: "a whole number"
        case .float: "a number"
        case .boolean: "true or false"
        case .date: "a date"
        case .array: "a list"
        case .table: "a table"
        }
    }

    /// The text, or nil when it is not one.
    public var string: String? {
        if case .string(let text, _) = self { text } else { nil }
    }

    /// The whole number, or nil when it is not one.
    public var integer: Int64? {
        if case .integer(let number, _) = self { number } else { nil }
    }

    /// The number, whole or not, or nil when it is not one.
    public var number: Double? {
        switch self {
        case .integer(let number, _): Double(number)
        case .float(let number, _): number
        default: nil
        }
    }

    /// True or false, or nil when it is neither.
    public var boolean: Bool? {
        if case .boolean(let flag, _) = self { flag } else { nil }
    }

    /// The list, or nil when it is not one.
    public var array: [TOMLValue]? {
        if case .array(let values, _) = self { values } else { nil }
    }

    /// The table, or nil when it is not one.
    public var table: TOMLTable? {
        if case .table(let table) = self { table } else { nil }
    }
}
