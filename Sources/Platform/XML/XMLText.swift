internal import Glibc

/// A piece of text that belongs to the parser: the name of an element or an attribute, or an attribute's value.
///
/// It is UTF-8, and valid only during the call that hands it over.
public struct XMLText {
    let start: UnsafePointer<CChar>
    let length: Int

    init(_ start: UnsafePointer<CChar>) {
        self.start = start
        length = strlen(start)
    }

    /// Its bytes, without a zero at the end.
    public var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: length)
    }

    /// A copy that may be kept.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The same without a namespace prefix: `cad` of `gpxtpx:cad`.
    public var local: XMLText {
        guard let colon = memchr(start, CInt(UInt8(ascii: ":")), length) else { return self }
        return XMLText(UnsafeRawPointer(colon).assumingMemoryBound(to: CChar.self) + 1)
    }

    /// Whether it has exactly these characters.
    public static func == (text: XMLText, other: StaticString) -> Bool {
        text.length == other.utf8CodeUnitCount && memcmp(text.start, other.utf8Start, text.length) == 0
    }

    /// Whether it has other characters.
    public static func != (text: XMLText, other: StaticString) -> Bool { !(text == other) }

    /// For `switch` over names.
    public static func ~= (pattern: StaticString, text: XMLText) -> Bool { text == pattern }
}
