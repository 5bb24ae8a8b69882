/// The header fields of a request or a response, in their order; names are equal whatever their case.
public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral, Sequence {
    private var fields: [(name: String, value: String)]

    /// No fields.
    public init() {
        fields = []
    }

    /// The fields of `list`, in its order.
    public init(_ list: [(String, String)]) {
        fields = list.map { (name: $0, value: $1) }
    }

    /// The fields of a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }

    /// The first value of `name`; setting replaces all of them, nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringCase(name) }?.value }
        set {
            fields.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// All values of `name`, in their order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// Adds a field and keeps those that stand there.
    public mutating func add(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    /// Goes through name and value of each field.
    public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        fields.makeIterator()
    }
}

extension String {
    /// Compares ASCII letters without their case.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension UInt8 {
    /// The small letter of an ASCII capital; everything else as it is.
    var lowercasedASCII: UInt8 { (65...90).contains(self) ? self + 32 : self }
}
