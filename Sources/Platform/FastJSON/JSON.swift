/// A JSON value. Numbers keep the text they were written with, and objects the order of their members.
public enum JSON: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as text.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object.
    case object(JSONObject)

    /// The member `key` of an object; nil when there is none or this is no object.
    public subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element at `index` of an array; nil when there is none or this is no array.
    public subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The string, when this is one.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The truth value, when this is one.
    public var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The number as a `Double`, when this is a number.
    public var double: Double? {
        guard case .number(let number) = self else { return nil }
        return number.double
    }

    /// The number as an `Int64`, when this is a whole number that fits.
    public var int64: Int64? {
        guard case .number(let number) = self else { return nil }
        return number.int64
    }

    /// The number as an `Int`, when this is a whole number that fits.
    public var int: Int? { int64.flatMap { Int(exactly: $0) } }

    /// The elements, when this is an array.
    public var array: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members, when this is an object.
    public var object: JSONObject? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// A string, or `null` for nil.
    public init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }

    /// A whole number, or `null` for nil.
    public init(_ number: Int?) {
        self = number.map { .number(JSONNumber($0)) } ?? .null
    }

    /// A number, or `null` for nil, NaN and infinities.
    public init(_ number: Double?) {
        self = number.flatMap(JSONNumber.init).map(JSON.number) ?? .null
    }
}

extension JSON: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// A number; a literal is always finite.
    public init(floatLiteral value: Double) { self.init(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object, members in the order written.
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
}
