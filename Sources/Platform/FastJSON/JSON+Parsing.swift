// Thread rule of json-c: an object belongs to one thread at a time. A tokener and its object live and die inside one
// call here, so any thread may parse.
internal import CJSONC

/// Why a text is not JSON.
public struct JSONError: Error, Sendable, CustomStringConvertible {
    /// The library's sentence.
    public let message: String
    /// Where it went wrong, in bytes from the start.
    public let offset: Int

    /// `not JSON: unexpected character at byte 7`.
    public var description: String { "not JSON: \(message) at byte \(offset)" }
}

extension JSON {
    /// Reads one JSON value from UTF-8 bytes; nothing may follow it but white space.
    ///
    /// Strict: no comments, no trailing commas, no NaN; valid UTF-8; at most `depth` levels. What the library lets pass:
    /// single quotes around a string. A whole number beyond 64 bits is clamped by it.
    public static func parse(_ bytes: some Collection<UInt8>, depth: Int = 32) throws(JSONError) -> JSON {
        let outcome: Result<JSON, JSONError>? = bytes.withContiguousStorageIfAvailable {
            parse(buffer: $0, depth: depth)
        }
        return try (outcome ?? Array(bytes).withUnsafeBufferPointer { parse(buffer: $0, depth: depth) }).get()
    }

    /// Reads one JSON value from a text.
    public static func parse(_ text: String, depth: Int = 32) throws(JSONError) -> JSON {
        var text = text
        return try text.withUTF8 { parse(buffer: $0, depth: depth) }.get()
    }

    private static func parse(buffer: UnsafeBufferPointer<UInt8>, depth: Int) -> Result<JSON, JSONError> {
        guard !buffer.isEmpty, let base = buffer.baseAddress else {
            return .failure(JSONError(message: "empty", offset: 0))
        }
        guard buffer.count <= Int(Int32.max) else { return .failure(JSONError(message: "too large", offset: 0)) }
        guard let tokener = json_tokener_new_ex(Int32(depth)) else {
            return .failure(JSONError(message: "out of memory", offset: 0))
        }
        defer { json_tokener_free(tokener) }
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
        let root = base.withMemoryRebound(to: CChar.self, capacity: buffer.count) { text in
            json_tokener_parse_ex(tokener, text, Int32(buffer.count))
        }
        defer { json_object_put(root) }
        var code = json_tokener_get_error(tokener)
        var offset = Int(json_tokener_get_parse_end(tokener))
        var object = root
        if code == json_tokener_continue {
            // A number at the end of the text: a final NUL tells the library that it is complete.
            object = json_tokener_parse_ex(tokener, "", -1)
            code = json_tokener_get_error(tokener)
            offset = buffer.count
        }
        defer { if root == nil { json_object_put(object) } }
        guard code == json_tokener_success else {
            let sentence =
                code == json_tokener_continue
                ? "the text ends too early" : String(cString: json_tokener_error_desc(code))
            return .failure(JSONError(message: sentence, offset: offset))
        }
        guard buffer[min(offset, buffer.count)...].allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            return .failure(JSONError(message: "something follows the value", offset: offset))
        }
        do throws(JSONError) {
            return .success(try JSON(object))
        } catch {
            return .failure(error)
        }
    }

    private init(_ object: OpaquePointer?) throws(JSONError) {
        switch json_object_get_type(object) {
        case json_type_boolean:
            self = .bool(json_object_get_boolean(object) != 0)
        case json_type_double, json_type_int:
            let text = String(cString: json_object_to_json_string(object))
            guard JSON.isNumber(text) else { throw JSONError(message: "\(text) is not a number of JSON", offset: 0) }
            self = .number(JSONNumber(written: text))
        case json_type_string:
            self = .string(JSON.text(json_object_get_string(object), Int(json_object_get_string_len(object))))
        case json_type_array:
            let count = json_object_array_length(object)
            var elements: [JSON] = []
            elements.reserveCapacity(count)
            for index in 0..<count { elements.append(try JSON(json_object_array_get_idx(object, index))) }
            self = .array(elements)
        case json_type_object:
            var members = JSONObject()
            var place = json_object_iter_begin(object)
            var end = json_object_iter_end(object)
            while json_object_iter_equal(&place, &end) == 0 {
                members.append(
                    new: String(cString: json_object_iter_peek_name(&place)),
                    try JSON(json_object_iter_peek_value(&place))
                )
                json_object_iter_next(&place)
            }
            self = .object(members)
        default:
            self = .null
        }
    }

    /// The library keeps the text of `1.`, `NaN` and `-Infinity`, which are no numbers of JSON.
    private static func isNumber(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        var previous: UInt8?
        for byte in text.utf8 {
            guard digits.contains(byte) || "+-.eE".utf8.contains(byte) else { return false }
            if previous == UInt8(ascii: "."), !digits.contains(byte) { return false }
            previous = byte
        }
        return previous.map(digits.contains) ?? false
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        guard let start, length > 0 else { return "" }
        return start.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
            String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
        }
    }
}
