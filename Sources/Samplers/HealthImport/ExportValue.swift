internal import Glibc

/// The forms in which an export writes times, numbers and names.
enum ExportValue {
    /// Seconds since 1970 of `2014-09-13 10:27:54 +0100`; also with a `T`, a `Z`, a colon in the zone.
    static func time(_ text: ExportText) -> Int64? {
        guard text.count >= 20 else { return nil }
        let bytes = text.start
        guard let year = number(bytes, 4), bytes[4] == UInt8(ascii: "-"),
            let month = number(bytes + 5, 2), bytes[7] == UInt8(ascii: "-"),
            let day = number(bytes + 8, 2),
            let hour = number(bytes + 11, 2), bytes[13] == UInt8(ascii: ":"),
            let minute = number(bytes + 14, 2), bytes[16] == UInt8(ascii: ":"),
            let second = number(bytes + 17, 2),
            1970...2200 ~= year, 1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second <= 60,
            let zone = zone(ExportText(start: bytes + 19, count: text.count - 19))
        else { return nil }
        let local = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return local - zone
    }

    private static func zone(_ text: ExportText) -> Int64? {
        var next = text.start
        let end = text.start + text.count
        while next < end, next.pointee == UInt8(ascii: " ") { next += 1 }
        guard next < end else { return nil }
        if next.pointee == UInt8(ascii: "Z"), next + 1 == end { return 0 }
        let isNegative = next.pointee == UInt8(ascii: "-")
        guard isNegative || next.pointee == UInt8(ascii: "+"), end - next >= 5 else { return nil }
        let minutesAt = next[3] == UInt8(ascii: ":") ? 4 : 3
        guard end - next == minutesAt + 2, let hours = number(next + 1, 2), let minutes = number(next + minutesAt, 2),
            hours <= 18, minutes < 60
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isNegative ? -seconds : seconds
    }

    private static func number(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int64? {
        var result: Int64 = 0
        for place in 0..<count {
            let digit = start[place] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            result = result * 10 + Int64(digit)
        }
        return result
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar, by Howard Hinnant's "chrono-Compatible Low-Level Date
    /// Algorithms".
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// A number that is finite and not negative.
    static func amount(_ text: ExportText) -> Double? {
        // Up to 15 digits with up to 22 behind the point are exact in one division (Clinger, "How to Read Floating Point
        // Numbers Accurately", 1990).
        var digits = 0
        var mantissa: Int64 = 0
        var decimals = 0
        var hasPoint = false
        for byte in text.bytes {
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10, digits < 15 {
                mantissa = mantissa * 10 + Int64(digit)
                digits += 1
                if hasPoint { decimals += 1 }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                return slowAmount(text)
            }
        }
        guard digits > 0 else { return nil }
        return decimals == 0 ? Double(mantissa) : Double(mantissa) / powers[decimals]
    }

    private static let powers: [Double] = (0...15).map { pow(10, Double($0)) }

    private static func slowAmount(_ text: ExportText) -> Double? {
        guard text.count < 64, let number = Double(String(decoding: text.bytes, as: UTF8.self)) else { return nil }
        return number.isFinite && number >= 0 ? number : nil
    }

    /// The name of a source as people read it: entities decoded, no-break spaces and typographic apostrophes made plain.
    static func name(_ text: ExportText) -> String {
        var result = ""
        var rest = Substring(String(decoding: text.bytes.prefix(1024), as: UTF8.self))
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            rest = rest[mark...]
            guard let end = rest.prefix(12).firstIndex(of: ";"),
                let character = entity(rest[rest.index(after: rest.startIndex)..<end])
            else {
                result.append("&")
                rest = rest.dropFirst()
                continue
            }
            result.append(character)
            rest = rest[rest.index(after: end)...]
        }
        result += rest
        var plain = ""
        for scalar in result.unicodeScalars {
            switch scalar {
            case "\u{2018}", "\u{2019}", "\u{02BC}": plain.append("'")
            case _ where scalar.properties.isWhitespace || scalar.value < 0x20:
                if !plain.hasSuffix(" ") { plain.append(" ") }
            default: plain.unicodeScalars.append(scalar)
            }
        }
        while plain.hasSuffix(" ") { plain.removeLast() }
        while plain.hasPrefix(" ") { plain.removeFirst() }
        return String(plain.prefix(100))
    }

    private static func entity(_ name: Substring) -> Character? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
            let code = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return code.flatMap(Unicode.Scalar.init).map(Character.init)
        }
    }
}
