/// Takes the fields of one packet's body, in order.
struct PacketReader {
    private var rest: ArraySlice<UInt8>

    init(_ body: ArraySlice<UInt8>) {
        rest = body
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() throws(MQTTViolation) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .malformed("a packet ends too early") }
        return byte
    }

    mutating func number() throws(MQTTViolation) -> UInt16 {
        let high = try byte()
        return UInt16(high) << 8 | UInt16(try byte())
    }

    /// A packet id, which is never 0.
    mutating func id() throws(MQTTViolation) -> UInt16 {
        let id = try number()
        guard id != 0 else { throw .malformed("packet id 0") }
        return id
    }

    mutating func bytes() throws(MQTTViolation) -> [UInt8] {
        let length = Int(try number())
        guard rest.count >= length else { throw .malformed("a field ends too early") }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }

    /// A text: UTF-8 without U+0000.
    mutating func text() throws(MQTTViolation) -> String {
        let bytes = try bytes()
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed("a text that is not UTF-8")
        }
        return text
    }

    mutating func remaining() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    func end() throws(MQTTViolation) {
        guard rest.isEmpty else { throw .malformed("a packet is longer than its fields") }
    }
}
