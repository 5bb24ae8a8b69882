/// A value of a row or of a parameter.
public enum SQLiteValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number.
    case real(Double)
    /// A text in UTF-8.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// The whole number, or nil when it is something else.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The number, also of an integer, or nil when it is something else.
    public var real: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    /// The text, or nil when it is something else.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// A text, or `null` for nil.
    public init(_ text: String?) {
        self = text.map { .text($0) } ?? .null
    }

    /// A whole number, or `null` for nil.
    public init(_ number: Int64?) {
        self = number.map { .integer($0) } ?? .null
    }

    /// A number, or `null` for nil.
    public init(_ number: Double?) {
        self = number.map { .real($0) } ?? .null
    }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Nothing.
    public init(nilLiteral: ()) { self = .null }
}
