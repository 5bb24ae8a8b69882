internal import Diagnostics
internal import Samples

/// A sentence of NMEA 0183 whose checksum is right: its kind and its fields, as text.
///
/// `$`, a talker of two letters, a kind of three, fields behind commas, `*`, and two hex digits: the bytes between `$` and
/// `*` combined by exclusive or. That check is weak, so every field is checked too.
struct NMEASentence {
    /// The three letters after the talker: `RMC`.
    let kind: String
    /// What stands behind the kind; an empty field is unknown, never zero.
    let fields: [Substring]

    /// Reads a line; what stands before the last `$` belongs to something else. Nil when there is no right sentence.
    init?(_ line: some BidirectionalCollection<UInt8>) {
        guard let dollar = line.lastIndex(of: UInt8(ascii: "$")) else { return nil }
        let rest = line[line.index(after: dollar)...]
        guard rest.count <= 120, let star = rest.lastIndex(of: UInt8(ascii: "*")) else { return nil }
        let body = rest[..<star]
        var digits = rest[rest.index(after: star)...]
        while let last = digits.last, last == 0x0D || last == 0x20 { digits.removeLast() }
        guard digits.count == 2, body.allSatisfy({ (0x20...0x7E).contains($0) }),
            let sum = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
            body.reduce(0, ^) == sum
        else { return nil }
        let parts = String(decoding: body, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        guard let address = parts.first, address.utf8.count == 5 else { return nil }
        kind = String(address.suffix(3))
        fields = Array(parts.dropFirst())
    }

    /// The field at `place` (0 is the first behind the kind); nil when it is empty or not there.
    func text(_ place: Int) -> Substring? {
        guard fields.indices.contains(place), !fields[place].isEmpty else { return nil }
        return fields[place]
    }

    /// Whether the field is empty or a number within `range`: anything else makes the sentence broken.
    func isUnknown(_ place: Int, or range: ClosedRange<Double>) -> Bool {
        guard let text = text(place) else { return true }
        return NMEASentence.decimal(text).map(range.contains) ?? false
    }

    /// The number of a field.
    func number(_ place: Int) -> Double? {
        text(place).flatMap(NMEASentence.decimal)
    }

    /// The place in four fields from `place`: `ddmm.mmmm`, `N` or `S`, `dddmm.mmmm`, `E` or `W`.
    func position(_ place: Int) -> GeoPosition? {
        guard let north = angle(place, digits: 2, plus: "N", minus: "S"),
            let east = angle(place + 2, digits: 3, plus: "E", minus: "W")
        else { return nil }
        return GeoPosition(latitude: north, longitude: east)
    }

    /// Nanoseconds since midnight from `hhmmss` or `hhmmss.sss`.
    func timeOfDay(_ place: Int) -> Int64? {
        guard let text = text(place) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts[0].utf8.count == 6, let whole = NMEASentence.whole(parts[0]) else { return nil }
        let (hour, minute, second) = (whole / 10_000, whole / 100 % 100, whole % 100)
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1].prefix(9)
            guard let number = NMEASentence.whole(digits) else { return parts[1].isEmpty ? seconds(whole) : nil }
            nanoseconds = Int64(number)
            for _ in digits.utf8.count..<9 { nanoseconds *= 10 }
        }
        return seconds(whole) + nanoseconds
    }

    private func seconds(_ whole: Int) -> Int64 {
        Int64(whole / 10_000 * 3_600 + whole / 100 % 100 * 60 + whole % 100) * 1_000_000_000
    }

    /// Days since 1970 from `ddmmyy`; years from 80 on are of the last century.
    func day(_ place: Int) -> Int64? {
        guard let text = text(place), text.utf8.count == 6, let whole = NMEASentence.whole(text) else { return nil }
        let short = whole % 100
        return NMEASentence.day(
            year: short + (short >= 80 ? 1900 : 2000),
            month: whole / 100 % 100,
            day: whole / 10_000
        )
    }

    /// Days since 1970 of a date of the calendar; nil when there is no such day.
    static func day(year: Int, month: Int, day: Int) -> Int64? {
        guard (1980...2200).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        let years = year - 1
        let before = years * 365 + years / 4 - years / 100 + years / 400
        return Int64(before + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162)
    }

    private func angle(_ place: Int, digits: Int, plus: Substring, minus: Substring) -> Double? {
        guard let text = text(place), let side = self.text(place + 1), side == plus || side == minus else { return nil }
        let whole = text.prefix { $0 != "." }
        guard whole.utf8.count == digits + 2, let degrees = NMEASentence.whole(whole.prefix(digits)),
            let minutes = NMEASentence.decimal(text.dropFirst(digits)), (0..<60).contains(minutes)
        else { return nil }
        let angle = Double(degrees) + minutes / 60
        return side == minus ? -angle : angle
    }

    private static func whole(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B }) else {
            return nil
        }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
}
