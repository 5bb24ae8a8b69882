/// A D-Bus value of any type but file descriptors.
public indirect enum BusValue: Sendable, Hashable {
    /// `y`.
    case byte(UInt8)
    /// `b`.
    case bool(Bool)
    /// `n`.
    case int16(Int16)
    /// `q`.
    case uint16(UInt16)
    /// `i`.
    case int32(Int32)
    /// `u`.
    case uint32(UInt32)
    /// `x`.
    case int64(Int64)
    /// `t`.
    case uint64(UInt64)
    /// `d`.
    case double(Double)
    /// `s`.
    case string(String)
    /// `o`.
    case objectPath(String)
    /// `g`.
    case signature(String)
    /// `ay`.
    case bytes([UInt8])
    /// `a` of what `element` says.
    case array([BusValue], element: String)
    /// `a{...}`: keys of a basic type.
    case dictionary([BusValue: BusValue], key: String, value: String)
    /// `(...)`.
    case structure([BusValue])
    /// `v`.
    case variant(BusValue)

    /// `a{sv}` with these entries.
    public static func properties(_ entries: [String: BusValue]) -> BusValue {
        var dictionary: [BusValue: BusValue] = [:]
        for (key, value) in entries { dictionary[.string(key)] = .variant(value) }
        return .dictionary(dictionary, key: "s", value: "v")
    }

    /// The value itself, without the variants around it.
    public var plain: BusValue {
        if case .variant(let value) = self { value.plain } else { self }
    }

    /// A text, a path or a signature; nil when it is something else.
    public var string: String? {
        switch plain {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// A truth; nil when it is something else.
    public var bool: Bool? {
        if case .bool(let flag) = plain { flag } else { nil }
    }

    /// A whole number of any width; nil when it is something else.
    public var int: Int? {
        switch plain {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        case .int64(let number): Int(number)
        case .uint64(let number): Int(exactly: number)
        default: nil
        }
    }

    /// A number of any kind; nil when it is something else.
    public var number: Double? {
        if case .double(let number) = plain { number } else { int.map { Double($0) } }
    }

    /// The bytes of `ay`; nil when it is something else.
    public var bytes: [UInt8]? {
        switch plain {
        case .bytes(let bytes): bytes
        default: nil
        }
    }

    /// The elements of an array or a structure; nil when it is something else.
    public var elements: [BusValue]? {
        switch plain {
        case .array(let values, _), .structure(let values): values
        default: nil
        }
    }

    /// The entries of a dictionary; nil when it is something else.
    public var entries: [BusValue: BusValue]? {
        if case .dictionary(let entries, _, _) = plain { entries } else { nil }
    }

    /// The entries of a dictionary with texts or paths as keys, values without variants; nil when it is something else.
    public var named: [String: BusValue]? {
        guard let entries else { return nil }
        var named: [String: BusValue] = [:]
        for (key, value) in entries {
            guard let name = key.string else { return nil }
            named[name] = value.plain
        }
        return named
    }

    /// Its type as D-Bus writes it.
    public var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(_, let element): "a\(element)"
        case .dictionary(_, let key, let value): "a{\(key)\(value)}"
        case .structure(let values): "(\(values.map(\.signature).joined()))"
        case .variant: "v"
        }
    }
}
