/// The cells of a CSV line, one by one: separated by commas, perhaps in quotes (RFC 4180, but never beyond the line).
struct Cells {
    /// One cell.
    struct Cell {
        /// Its bytes without quotes around it; doubled quotes inside are still doubled.
        let bytes: UnsafeRawBufferPointer
        /// Whether it was in quotes.
        let isQuoted: Bool

        /// Its text.
        var text: String {
            let text = String(decoding: bytes, as: UTF8.self)
            guard isQuoted, text.contains("\"\"") else { return text }
            return text.split(separator: "\"\"", omittingEmptySubsequences: false).joined(separator: "\"")
        }
    }

    private let line: UnsafeRawBufferPointer
    private var place = 0
    private var isDone = false

    init(_ line: UnsafeRawBufferPointer) { self.line = line }

    /// The next cell without blanks around it; nil after the last one.
    mutating func next() -> Cell? {
        guard !isDone else { return nil }
        var first = place
        while first < line.count, line[first] == 0x20 || line[first] == 0x09 { first += 1 }
        if first < line.count, line[first] == UInt8(ascii: "\""), let quoted = quoted(from: first + 1) { return quoted }
        var stop = first
        while stop < line.count, line[stop] != UInt8(ascii: ",") { stop += 1 }
        finish(at: stop)
        var last = stop
        while last > first, line[last - 1] == 0x20 || line[last - 1] == 0x09 { last -= 1 }
        return Cell(bytes: UnsafeRawBufferPointer(rebasing: line[first..<last]), isQuoted: false)
    }

    /// A cell in quotes; nil when the quote is not closed before the next comma or the end: then it is just a byte.
    private mutating func quoted(from first: Int) -> Cell? {
        var stop = first
        while stop < line.count {
            if line[stop] == UInt8(ascii: "\"") {
                if stop + 1 < line.count, line[stop + 1] == UInt8(ascii: "\"") {
                    stop += 2
                    continue
                }
                break
            }
            stop += 1
        }
        guard stop < line.count else { return nil }
        var after = stop + 1
        while after < line.count, line[after] == 0x20 || line[after] == 0x09 { after += 1 }
        guard after == line.count || line[after] == UInt8(ascii: ",") else { return nil }
        finish(at: after)
        return Cell(bytes: UnsafeRawBufferPointer(rebasing: line[first..<stop]), isQuoted: true)
    }

    private mutating func finish(at stop: Int) {
        isDone = stop >= line.count
        place = stop + 1
    }
}
