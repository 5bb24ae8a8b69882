/// How one element of a buffer lies in memory: `le:s16/16>>0`, `be:u12/16>>4`, `le:s32/32X4>>0`, `le:f32/32>>0`.
struct ScanType: Sendable, Hashable {
    enum Format: Sendable {
        case signed
        case unsigned
        case float
    }

    let isBigEndian: Bool
    let format: Format
    /// How many bits count.
    let bits: Int
    /// How many bits it takes: 8, 16, 32 or 64.
    let storageBits: Int
    /// How many such values follow each other.
    let count: Int
    let shift: Int

    /// Reads the text of `in_…_type`; nil when it cannot be so.
    init?(_ text: String) {
        let lower = text.lowercased()
        var rest = Substring(lower)
        func skip(_ prefix: String) -> Bool {
            guard rest.hasPrefix(prefix) else { return false }
            rest = rest.dropFirst(prefix.count)
            return true
        }
        func number() -> Int? {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return digits.count <= 4 ? Int(digits) : nil
        }
        guard lower.hasPrefix("le:") || lower.hasPrefix("be:") else { return nil }
        isBigEndian = lower.hasPrefix("be")
        rest = rest.dropFirst(3)
        guard let letter = rest.popFirst() else { return nil }
        switch letter {
        case "s": format = .signed
        case "u": format = .unsigned
        case "f": format = .float
        default: return nil
        }
        guard let bits = number(), skip("/"), let storage = number() else { return nil }
        let count = skip("x") ? number() : 1
        let shift = skip(">>") ? number() : 0
        guard let count, let shift, rest.isEmpty, [8, 16, 32, 64].contains(storage), (1...storage).contains(bits),
            (1...64).contains(count), (0..<storage).contains(shift)
        else { return nil }
        if format == .float { guard bits == storage, shift == 0, storage >= 16 else { return nil } }
        self.bits = bits
        storageBits = storage
        self.count = count
        self.shift = shift
    }

    /// The bytes of one value.
    var storageBytes: Int { storageBits / 8 }

    /// The bytes of all its values.
    var size: Int { storageBytes * count }

    /// The whole number at `offset`: bytes in their order, shifted, masked, sign extended, in that order.
    ///
    /// The caller has checked that `bytes` holds it.
    func integer(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int64 {
        var word: UInt64 = 0
        let size = storageBytes
        for place in 0..<size {
            let byte = bytes[offset &+ (isBigEndian ? place : size &- 1 &- place)]
            word = word << 8 | UInt64(byte)
        }
        word >>= UInt64(shift)
        guard bits < 64 else { return Int64(bitPattern: word) }
        word &= 1 << UInt64(bits) &- 1
        if format == .signed, word >> UInt64(bits - 1) == 1 { word |= ~UInt64(0) << UInt64(bits) }
        return Int64(bitPattern: word)
    }

    /// The number at `offset`; NaN when a float says so.
    func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Double {
        let integer = integer(bytes, at: offset)
        switch format {
        case .signed: return Double(integer)
        case .unsigned: return Double(UInt64(bitPattern: integer))
        case .float:
            switch storageBits {
            case 64: return Double(bitPattern: UInt64(bitPattern: integer))
            case 32: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: integer)))
            default: return ScanType.half(UInt16(truncatingIfNeeded: integer))
            }
        }
    }

    /// A 16-bit float, without the type that not every processor has.
    private static func half(_ word: UInt16) -> Double {
        let sign: Double = word & 0x8000 == 0 ? 1 : -1
        let exponent = Int(word >> 10 & 0x1F)
        let fraction = Double(word & 0x3FF) / 1024
        switch exponent {
        case 0: return sign * fraction * 0x1p-14
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * (1 + fraction) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        }
    }
}
