/// The name of a stream or a field: `[a-z][a-z0-9_]*(\.[a-z0-9_]+)*`, at most 64 bytes.
///
/// A name of this form can be a column, a file name and a topic part, so nothing from outside becomes SQL or a path.
public struct Name: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name itself.
    public let text: String

    /// Takes `text` as it is, or nil when it does not have the form.
    public init?(_ text: String) {
        guard text.utf8.count <= 64, Name.hasForm(text) else { return nil }
        self.text = text
    }

    /// Takes `text` from outside: what a name may not hold becomes `_`, what is too long is cut.
    public init(mapping text: String) {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                bytes.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                bytes.append(byte + 32)
            case UInt8(ascii: ".") where !bytes.isEmpty && bytes.last != UInt8(ascii: "."):
                bytes.append(byte)
            default:
                if bytes.last != UInt8(ascii: "_") { bytes.append(UInt8(ascii: "_")) }
            }
        }
        while bytes.last == UInt8(ascii: ".") || bytes.last == UInt8(ascii: "_") { bytes.removeLast() }
        if let first = bytes.first, !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) {
            bytes.insert(UInt8(ascii: "x"), at: 0)
        }
        if bytes.isEmpty { bytes = Array("x".utf8) }
        if bytes.count > 64 { bytes.removeLast(bytes.count - 64) }
        while bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// Alphabetical order by bytes.
    public static func < (left: Name, right: Name) -> Bool { left.text < right.text }

    /// The name itself.
    public var description: String { text }

    private static func hasForm(_ text: String) -> Bool {
        var previous: UInt8?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                if previous == nil { return false }
            case UInt8(ascii: "."):
                if previous == nil || previous == UInt8(ascii: ".") { return false }
            default: return false
            }
            previous = byte
        }
        return previous != nil && previous != UInt8(ascii: ".")
    }
}

/// What a field holds.
public enum FieldKind: String, Sendable, Hashable {
    /// A measured number.
    case real
    /// A count.
    case integer
    /// A word or an id.
    case text
    /// Yes or no.
    case flag
}

/// One value of a stream: its name, its unit and what it holds.
public struct Field: Sendable, Hashable {
    /// The name within the stream, such as `one_minute`.
    public let name: Name
    /// The unit of every value.
    public let unit: Unit
    /// What every value is.
    public let kind: FieldKind

    /// Makes a field.
    public init(_ name: Name, unit: Unit = .none, kind: FieldKind = .real) {
        self.name = name
        self.unit = unit
        self.kind = kind
    }
}

/// A named series of samples with fixed fields: `accelerometer` with x, y, z in m/s^2.
public struct Stream: Sendable, Hashable {
    /// The name, such as `host.load` or `accelerometer.lid`.
    public let name: Name
    /// The fields, in the order of a sample's values. At least one, at most 64.
    public let fields: [Field]

    /// Makes a stream.
    public init(_ name: Name, fields: [Field]) {
        precondition(!fields.isEmpty && fields.count <= 64, "a stream has 1 to 64 fields")
        self.name = name
        self.fields = fields
    }

    /// The place of the field called `name`, or nil.
    public func index(of name: Name) -> Int? {
        fields.firstIndex { $0.name == name }
    }
}
