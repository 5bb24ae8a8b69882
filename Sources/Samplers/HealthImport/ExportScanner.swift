internal import Glibc

/// Finds the tags of an export, with nothing but the buffer that is read.
///
/// An XML parser cannot do it: the exports of iOS 16 have a document type that is no XML, control characters stand in
/// values, very old ones have blanks in the names of attributes, and the file of a phone that ran full ends in the middle.
/// The data themselves are plain: elements with attributes, no text that matters. So the document type, comments,
/// instructions and text are passed over, and of an element only what is asked for is decoded. Hand-written also because
/// it is several times as fast as libexpat on files of gigabytes.
struct ExportScanner {

    private(set) var hasRoot = false
    private(set) var isComplete = false
    private var depth = 0

    /// Scans `buffer`; calls `body` for each beginning tag with the number of elements that it lies in.
    mutating func scan(
        _ buffer: UnsafeBufferPointer<UInt8>,
        _ body: (_ name: ExportText, _ attributes: ExportAttributes, _ depth: Int) -> Void
    ) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        let end = base + buffer.count
        return withUnsafeTemporaryAllocation(
            of: ExportAttributes.Attribute.self,
            capacity: ExportAttributes.limit
        ) { list in
            guard let list = list.baseAddress else { return 0 }
            var next = base
            while let open = find(UInt8(ascii: "<"), next, end) {
                guard let after = skipOrRead(open, end, list, body) else { return open - base }
                next = after
            }
            return buffer.count
        }
    }

    /// Passes over what begins at `open`; nil when it does not end in the buffer.
    private mutating func skipOrRead(
        _ open: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>,
        _ list: UnsafeMutablePointer<ExportAttributes.Attribute>,
        _ body: (ExportText, ExportAttributes, Int) -> Void
    ) -> UnsafePointer<UInt8>? {
        let first = open + 1
        guard first < end else { return nil }
        switch first.pointee {
        case UInt8(ascii: "/"):
            guard let close = find(UInt8(ascii: ">"), first, end) else { return nil }
            if depth > 0 {
                depth -= 1
                if depth == 0 { isComplete = true }
            }
            return close + 1
        case UInt8(ascii: "?"):
            return find("?>", first, end)
        case UInt8(ascii: "!"):
            return skipDeclaration(first, end)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
            return readTag(first, end, list, body)
        default:
            return first
        }
    }

    private func skipDeclaration(
        _ first: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        guard end - first >= 8 else { return nil }
        if memcmp(first, "!--", 3) == 0 { return find("-->", first + 3, end) }
        if memcmp(first, "![CDATA[", 8) == 0 { return find("]]>", first + 8, end) }
        // A document type: up to its end, whatever stands in it.
        var next = first
        while next < end {
            if next.pointee == UInt8(ascii: "[") { return find("]>", next, end) }
            if next.pointee == UInt8(ascii: ">") { return next + 1 }
            next += 1
        }
        return nil
    }

    private mutating func readTag(
        _ first: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>,
        _ list: UnsafeMutablePointer<ExportAttributes.Attribute>,
        _ body: (ExportText, ExportAttributes, Int) -> Void
    ) -> UnsafePointer<UInt8>? {
        var next = first
        while next < end, !Self.endsName(next.pointee) { next += 1 }
        let name = ExportText(start: first, count: next - first)
        var attributes = ExportAttributes(list: list)
        while true {
            while next < end, next.pointee <= 0x20 { next += 1 }
            guard next < end else { return nil }
            if next.pointee == UInt8(ascii: ">") {
                hasRoot = true
                body(name, attributes, depth)
                depth += 1
                return next + 1
            }
            if next.pointee == UInt8(ascii: "/") {
                guard next + 1 < end else { return nil }
                if next[1] == UInt8(ascii: ">") {
                    hasRoot = true
                    body(name, attributes, depth)
                    return next + 2
                }
                next += 1
                continue
            }
            // A name goes up to the equals sign: old exports have blanks in it.
            let start = next
            while next < end, next.pointee != UInt8(ascii: "="), next.pointee != UInt8(ascii: ">") { next += 1 }
            guard next < end else { return nil }
            guard next.pointee == UInt8(ascii: "=") else { continue }
            let attribute = ExportText(start: start, count: next - start)
            next += 1
            while next < end, next.pointee <= 0x20 { next += 1 }
            guard next < end else { return nil }
            let quote = next.pointee
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { continue }
            next += 1
            guard let close = find(quote, next, end) else { return nil }
            attributes.append(attribute, ExportText(start: next, count: close - next))
            next = close + 1
        }
    }

    @inline(__always)
    private static func endsName(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
    }

    @inline(__always)
    private func find(
        _ byte: UInt8,
        _ start: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        guard start < end, let found = memchr(start, Int32(byte), end - start) else { return nil }
        return UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
    }

    /// The place behind the next `mark`.
    private func find(
        _ mark: StaticString,
        _ start: UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        let length = mark.utf8CodeUnitCount
        var next = start
        while let found = find(mark.utf8Start.pointee, next, end), end - found >= length {
            if memcmp(found, mark.utf8Start, length) == 0 { return found + length }
            next = found + 1
        }
        return nil
    }
}
