internal import CSystemd

/// Puts values into messages. The messages belong to the bus's thread.
enum BusWriter {
    static func append(_ value: BusValue, to message: OpaquePointer) throws(BusError) {
        switch value {
        case .byte(let number): try basic("y", number, message)
        case .bool(let flag): try basic("b", Int32(flag ? 1 : 0), message)
        case .int16(let number): try basic("n", number, message)
        case .uint16(let number): try basic("q", number, message)
        case .int32(let number): try basic("i", number, message)
        case .uint32(let number): try basic("u", number, message)
        case .int64(let number): try basic("x", number, message)
        case .uint64(let number): try basic("t", number, message)
        case .double(let number): try basic("d", number, message)
        case .string(let text): try word("s", text, message)
        case .objectPath(let text): try word("o", text, message)
        case .signature(let text): try word("g", text, message)
        case .bytes(let bytes):
            try check(
                bytes.withUnsafeBytes { sd_bus_message_append_array(message, type("y"), $0.baseAddress, $0.count) }
            )
        case .array(let values, let element):
            try container("a", element, message) { () throws(BusError) in
                for value in values { try append(value, to: message) }
            }
        case .dictionary(let entries, let key, let value):
            try container("a", "{\(key)\(value)}", message) { () throws(BusError) in
                for (entryKey, entryValue) in entries {
                    try container("e", key + value, message) { () throws(BusError) in
                        try append(entryKey, to: message)
                        try append(entryValue, to: message)
                    }
                }
            }
        case .structure(let values):
            try container("r", values.map(\.signature).joined(), message) { () throws(BusError) in
                for value in values { try append(value, to: message) }
            }
        case .variant(let inner):
            try container("v", inner.signature, message) { () throws(BusError) in
                try append(inner, to: message)
            }
        }
    }

    static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    private static func basic<Number: BitwiseCopyable>(
        _ letter: Unicode.Scalar,
        _ number: Number,
        _ message: OpaquePointer
    ) throws(BusError) {
        var number = number
        try check(withUnsafePointer(to: &number) { sd_bus_message_append_basic(message, type(letter), $0) })
    }

    private static func word(_ letter: Unicode.Scalar, _ text: String, _ message: OpaquePointer) throws(BusError) {
        try check(text.withCString { sd_bus_message_append_basic(message, type(letter), $0) })
    }

    private static func container(
        _ letter: Unicode.Scalar,
        _ contents: String,
        _ message: OpaquePointer,
        _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_open_container(message, type(letter), contents))
        try body()
        try check(sd_bus_message_close_container(message))
    }

    private static func check(_ code: Int32) throws(BusError) {
        guard code >= 0 else { throw .invalidCall(systemText(-code)) }
    }
}
