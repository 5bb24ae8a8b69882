internal import Glibc

/// A piece of the scanner's buffer; valid only during the call that hands it over.
struct ExportText {
    let start: UnsafePointer<UInt8>
    let count: Int

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    @inline(__always)
    static func == (text: ExportText, other: StaticString) -> Bool {
        text.count == other.utf8CodeUnitCount && memcmp(text.start, other.utf8Start, text.count) == 0
    }

    @inline(__always)
    static func ~= (pattern: StaticString, text: ExportText) -> Bool { text == pattern }

    /// The text without `prefix`, if it begins with it.
    @inline(__always)
    func dropping(prefix: StaticString) -> ExportText? {
        let length = prefix.utf8CodeUnitCount
        guard count >= length, memcmp(start, prefix.utf8Start, length) == 0 else { return nil }
        return ExportText(start: start + length, count: count - length)
    }
}

/// The attributes of a tag.
struct ExportAttributes {
    struct Attribute {
        var name: ExportText
        var value: ExportText
    }

    /// More than any element of an export has; what is beyond is not kept.
    static let limit = 32

    let list: UnsafeMutablePointer<Attribute>
    var count = 0

    @inline(__always)
    mutating func append(_ name: ExportText, _ value: ExportText) {
        guard count < Self.limit else { return }
        (list + count).initialize(to: Attribute(name: name, value: value))
        count += 1
    }
}
