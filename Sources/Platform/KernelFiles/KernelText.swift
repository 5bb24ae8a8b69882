/// A cursor over the text of a file of the kernel. It makes no copies; valid only until the next read.
public struct KernelText {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    /// Reads from the start of `bytes`.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether nothing is left.
    public var isAtEnd: Bool { place >= bytes.count }

    /// The next byte, or nil at the end.
    public var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// Goes beyond blanks, not beyond the end of the line.
    public mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 { place += 1 }
    }

    /// Goes to the start of the next line.
    public mutating func skipLine() {
        while let byte = next {
            place += 1
            if byte == 0x0A { return }
        }
    }

    /// Goes beyond `prefix` when it comes next.
    public mutating func skip(_ prefix: StaticString) -> Bool {
        guard bytes.count - place >= prefix.utf8CodeUnitCount else { return false }
        for offset in 0..<prefix.utf8CodeUnitCount where bytes[place + offset] != prefix.utf8Start[offset] {
            return false
        }
        place += prefix.utf8CodeUnitCount
        return true
    }

    /// The next word as bytes: up to a blank, the end of the line, or `separator`.
    public mutating func word(until separator: UInt8 = 0x20) -> UnsafeRawBufferPointer {
        skipBlanks()
        let start = place
        while let byte = next, byte != 0x20, byte != 0x09, byte != 0x0A, byte != separator { place += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<place])
    }

    /// Goes beyond one word.
    public mutating func skipWord() { _ = word() }

    /// The next whole number that is not negative, or nil when there is none.
    public mutating func count() -> UInt64? {
        skipBlanks()
        var number: UInt64 = 0
        let start = place
        while let byte = next, byte >= 0x30, byte <= 0x39 {
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            number = scaled &+ UInt64(byte &- 0x30)
            place += 1
        }
        return place > start ? number : nil
    }

    /// The next number with sign and fraction, or nil when there is none.
    public mutating func number() -> Double? {
        skipBlanks()
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { place += 1 }
        guard let whole = count() else { return nil }
        var value = Double(whole)
        if next == UInt8(ascii: ".") {
            place += 1
            var scale = 1.0
            var digits = whole
            while let byte = next, byte >= 0x30, byte <= 0x39 {
                if scale < 1e15, digits < 1_000_000_000_000_000 {
                    digits = digits * 10 + UInt64(byte - 0x30)
                    scale *= 10
                }
                place += 1
            }
            value = Double(digits) / scale
        }
        return isNegative ? -value : value
    }

    /// What is left of this line, without blanks at its end.
    public mutating func restOfLine() -> String {
        let start = place
        while let byte = next, byte != 0x0A { place += 1 }
        var end = place
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}
