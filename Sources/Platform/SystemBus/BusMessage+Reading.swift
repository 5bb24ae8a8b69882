internal import CSystemd
internal import Glibc

/// Takes values out of messages. The messages belong to the bus's thread.
enum BusReader {
    /// All arguments; those behind one of a type that is not read here are left out.
    static func arguments(of message: OpaquePointer) -> [BusValue] {
        var values: [BusValue] = []
        while sd_bus_message_at_end(message, 1) == 0, let value = value(message) { values.append(value) }
        return values
    }

    private static func value(_ message: OpaquePointer) -> BusValue? {
        var letter: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(message, &letter, &contents) > 0 else { return nil }
        switch Unicode.Scalar(UInt8(bitPattern: letter)) {
        case "y": return basic(letter, UInt8(0), message).map { .byte($0) }
        case "b": return basic(letter, Int32(0), message).map { .bool($0 != 0) }
        case "n": return basic(letter, Int16(0), message).map { .int16($0) }
        case "q": return basic(letter, UInt16(0), message).map { .uint16($0) }
        case "i": return basic(letter, Int32(0), message).map { .int32($0) }
        case "u": return basic(letter, UInt32(0), message).map { .uint32($0) }
        case "x": return basic(letter, Int64(0), message).map { .int64($0) }
        case "t": return basic(letter, UInt64(0), message).map { .uint64($0) }
        case "d": return basic(letter, 0.0, message).map { .double($0) }
        case "s": return text(letter, message).map { .string($0) }
        case "o": return text(letter, message).map { .objectPath($0) }
        case "g": return text(letter, message).map { .signature($0) }
        case "a": return array(message, contents.map { String(cString: $0) } ?? "")
        case "r":
            return inside(letter, contents, message) { .structure(rest(message)) }
        case "v":
            return inside(letter, contents, message) { value(message).map { .variant($0) } }
        default:
            return nil
        }
    }

    private static func array(_ message: OpaquePointer, _ element: String) -> BusValue? {
        if element == "y" {
            var start: UnsafeRawPointer?
            var count = 0
            guard sd_bus_message_read_array(message, BusWriter.type("y"), &start, &count) >= 0 else { return nil }
            return .bytes(Array(UnsafeRawBufferPointer(start: start, count: count)))
        }
        guard element.hasPrefix("{") else {
            return inside(BusWriter.type("a"), element, message) { .array(rest(message), element: element) }
        }
        return inside(BusWriter.type("a"), element, message) {
            var entries: [BusValue: BusValue] = [:]
            while sd_bus_message_at_end(message, 0) == 0 {
                var letter: CChar = 0
                var contents: UnsafePointer<CChar>?
                guard sd_bus_message_peek_type(message, &letter, &contents) > 0,
                    let entry = inside(letter, contents, message, { .structure(rest(message)) }),
                    case .structure(let pair) = entry, pair.count == 2
                else { return nil }
                entries[pair[0]] = pair[1]
            }
            let inner = element.dropFirst().dropLast()
            return .dictionary(entries, key: String(inner.prefix(1)), value: String(inner.dropFirst()))
        }
    }

    private static func rest(_ message: OpaquePointer) -> [BusValue] {
        var values: [BusValue] = []
        while sd_bus_message_at_end(message, 0) == 0, let value = value(message) { values.append(value) }
        return values
    }

    private static func inside(
        _ letter: CChar,
        _ contents: UnsafePointer<CChar>?,
        _ message: OpaquePointer,
        _ body: () -> BusValue?
    ) -> BusValue? {
        guard sd_bus_message_enter_container(message, letter, contents) > 0 else { return nil }
        let value = body()
        guard sd_bus_message_exit_container(message) >= 0 else { return nil }
        return value
    }

    private static func basic<Number: BitwiseCopyable>(
        _ letter: CChar,
        _ zero: Number,
        _ message: OpaquePointer
    ) -> Number? {
        var number = zero
        return sd_bus_message_read_basic(message, letter, &number) > 0 ? number : nil
    }

    private static func text(_ letter: CChar, _ message: OpaquePointer) -> String? {
        var start: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, letter, &start) > 0, let start else { return nil }
        return String(cString: start)
    }
}

/// The system's words for an error number.
func systemText(_ code: Int32) -> String {
    String(cString: strerror(code))
}
