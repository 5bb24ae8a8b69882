internal import Glibc

/// A decimal number in bytes, read without losing a digit: 19-digit nanoseconds do not fit into a `Double`.
struct Decimal {
    private(set) var digits: UInt64 = 0
    /// The number is `digits` times ten to this power.
    private(set) var exponent = 0
    private(set) var isNegative = false
    /// How many digits stand before the point.
    private(set) var wholeDigits = 0
    /// Whether digits were lost that `digits` had no room for.
    private(set) var isCut = false

    /// Reads sign, digits, point, digits, exponent; nil when anything else is there.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        let count = bytes.count
        guard count > 0 else { return nil }
        if bytes[0] == UInt8(ascii: "-") || bytes[0] == UInt8(ascii: "+") {
            isNegative = bytes[0] == UInt8(ascii: "-")
            place = 1
        }
        var seen = 0
        while place < count, bytes[place] &- 0x30 < 10 {
            take(bytes[place] &- 0x30, afterPoint: false)
            seen += 1
            place += 1
        }
        wholeDigits = seen
        if place < count, bytes[place] == UInt8(ascii: ".") {
            place += 1
            while place < count, bytes[place] &- 0x30 < 10 {
                take(bytes[place] &- 0x30, afterPoint: true)
                seen += 1
                place += 1
            }
        }
        guard seen > 0 else { return nil }
        guard place < count else { return }
        guard bytes[place] | 0x20 == UInt8(ascii: "e"), place + 1 < count else { return nil }
        place += 1
        let isBelow = bytes[place] == UInt8(ascii: "-")
        if isBelow || bytes[place] == UInt8(ascii: "+") { place += 1 }
        guard place < count else { return nil }
        var power = 0
        while place < count {
            guard bytes[place] &- 0x30 < 10 else { return nil }
            power = min(power * 10 + Int(bytes[place] &- 0x30), 100_000)
            place += 1
        }
        exponent += isBelow ? -power : power
    }

    private mutating func take(_ digit: UInt8, afterPoint: Bool) {
        guard digits < 1_000_000_000_000_000_000 else {
            isCut = isCut || digit != 0
            if !afterPoint { exponent += 1 }
            return
        }
        digits = digits * 10 + UInt64(digit)
        if afterPoint { exponent -= 1 }
    }

    /// The number times ten to the power of `scale` as a whole number, cut; nil when it does not fit.
    func scaled(by scale: Int) -> Int64? {
        var number = digits
        var power = exponent + scale
        if number == 0 { return 0 }
        while power > 0 {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            number = product
            power -= 1
        }
        while power < 0, number > 0 {
            number /= 10
            power += 1
        }
        guard let whole = Int64(exactly: number) else { return nil }
        return isNegative ? -whole : whole
    }

    /// The number, rounded right, when that takes one exact operation; nil when it has to be read the long way.
    var fast: Double? {
        guard !isCut, digits <= 1 << 53, exponent.magnitude <= 22 else { return nil }
        let power = Decimal.powers[Int(exponent.magnitude)]
        let number = exponent < 0 ? Double(digits) / power : Double(digits) * power
        return isNegative ? -number : number
    }

    /// Ten to the power of 0 to 22: all that a `Double` holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The number in `bytes`, rounded right; nil when it is none. `nan` and `inf` are numbers here.
    static func number(_ bytes: UnsafeRawBufferPointer) -> Double? {
        if let decimal = Decimal(bytes) {
            if let fast = decimal.fast { return fast }
            return Double(String(decoding: bytes, as: UTF8.self))
        }
        guard bytes.count <= 9, let last = bytes.last,
            last | 0x20 == UInt8(ascii: "n") || last | 0x20 == UInt8(ascii: "f")
                || last | 0x20 == UInt8(ascii: "y")
        else { return nil }
        return Double(String(decoding: bytes, as: UTF8.self).lowercased())
    }
}
