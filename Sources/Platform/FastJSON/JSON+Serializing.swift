extension JSON {
    /// The value as JSON text without white space, in one line.
    public func serialized() -> String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as indented JSON text for people.
    public func serializedForPeople() -> String {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as compact JSON text.
    public func write(to bytes: inout [UInt8]) {
        write(to: &bytes, indentation: nil)
    }

    /// Appends `text` as a JSON string with its quotes.
    public static func write(string text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
            case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
            case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20, 0x7F:
                let digits = Array("0123456789abcdef".utf8)
                bytes.append(contentsOf: #"\u00"#.utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private func write(to bytes: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .string(let text): JSON.write(string: text, to: &bytes)
        case .array(let elements):
            JSON.list(elements, between: "[]", to: &bytes, indentation) { element, bytes, inner in
                element.write(to: &bytes, indentation: inner)
            }
        case .object(let members):
            JSON.list(members, between: "{}", to: &bytes, indentation) { member, bytes, inner in
                JSON.write(string: member.key, to: &bytes)
                bytes.append(contentsOf: (inner == nil ? ":" : ": ").utf8)
                member.value.write(to: &bytes, indentation: inner)
            }
        }
    }

    private static func list<Items: Collection>(
        _ items: Items,
        between brackets: String,
        to bytes: inout [UInt8],
        _ indentation: Int?,
        write: (Items.Element, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 2 }
        func newLine(_ width: Int?, _ bytes: inout [UInt8]) {
            guard let width, !items.isEmpty else { return }
            bytes.append(0x0A)
            bytes.append(contentsOf: repeatElement(0x20, count: width))
        }
        bytes.append(contentsOf: brackets.utf8.prefix(1))
        for (place, item) in items.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            newLine(inner, &bytes)
            write(item, &bytes, inner)
        }
        newLine(indentation, &bytes)
        bytes.append(contentsOf: brackets.utf8.suffix(1))
    }
}

extension JSON: CustomStringConvertible {
    /// Compact JSON text.
    public var description: String { serialized() }
}
