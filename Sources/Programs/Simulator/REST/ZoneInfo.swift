internal import FoundationEssentials

/// A time zone of this machine, read from its compiled form (RFC 8536).
///
/// FoundationEssentials knows only GMT, and setting `TZ` for the C library would change it for every thread.
struct ZoneInfo: Sendable {
    struct Period: Sendable, Equatable {
        let offset: Int
        let isDaylightSaving: Bool
    }

    private let transitions: [(time: Int64, period: Int)]
    private let periods: [Period]

    /// The zone `Area/City`; nil when the machine has no such zone.
    init?(named name: String, folder: String = "/usr/share/zoneinfo") {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { part in
            !part.isEmpty && part.first != "."
                && part.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"):
                        true
                    default: "_+-".utf8.contains(byte)
                    }
                }
        }
        guard isSafe, let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return nil }
        self.init(bytes: Array(data))
    }

    /// Reads the 64-bit part of a file. Files of Debian hold the changes until 2037; later times get the last of them.
    init?(bytes: [UInt8]) {
        guard let first = Header(bytes, at: 0), first.version >= 2,
            let second = Header(bytes, at: 44 + first.bodyBytes(timeBytes: 4))
        else { return nil }
        let times = second.start
        let kinds = times + 8 * second.transitions
        let types = kinds + second.transitions
        guard second.types > 0, types + 6 * second.types <= bytes.count else { return nil }
        periods = (0..<second.types).map { index in
            let at = types + 6 * index
            return Period(
                offset: Int(Int32(truncatingIfNeeded: bytes.number(at: at, bytes: 4))),
                isDaylightSaving: bytes[at + 4] != 0
            )
        }
        transitions = (0..<second.transitions).map { index in
            (bytes.number(at: times + 8 * index, bytes: 8), Int(bytes[kinds + index]))
        }
        guard transitions.allSatisfy({ $0.period < second.types }) else { return nil }
    }

    /// The offset from UTC, in seconds, at a moment in seconds since 1970.
    func period(at moment: Int64) -> Period {
        let index = transitions.lastIndex { $0.time <= moment }
        return periods[index.map { transitions[$0].period } ?? 0]
    }

    private struct Header {
        let version: Int
        let transitions: Int
        let types: Int
        let start: Int
        private let others: (isUT: Int, isStandard: Int, leaps: Int, characters: Int)

        init?(_ bytes: [UInt8], at offset: Int) {
            guard offset + 44 <= bytes.count, Array(bytes[offset..<offset + 4]) == Array("TZif".utf8) else {
                return nil
            }
            version = bytes[offset + 4] == 0 ? 1 : Int(bytes[offset + 4]) - 48
            let numbers = (0..<6).map { Int(bytes.number(at: offset + 20 + 4 * $0, bytes: 4)) }
            others = (numbers[0], numbers[1], numbers[2], numbers[5])
            transitions = numbers[3]
            types = numbers[4]
            start = offset + 44
        }

        func bodyBytes(timeBytes: Int) -> Int {
            transitions * (timeBytes + 1) + types * 6 + others.characters + others.leaps * (timeBytes + 4)
                + others.isStandard + others.isUT
        }
    }
}

extension [UInt8] {
    fileprivate func number(at start: Int, bytes: Int) -> Int64 {
        self[start..<start + bytes].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// A moment taken apart, as in C's `struct tm`.
struct BrokenDownTime: Sendable {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    /// Days since Sunday.
    let weekday: Int
    /// Counts from 1.
    let dayOfYear: Int

    /// Takes seconds since 1970, already moved by the zone's offset.
    init(seconds: Int64) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let rest = Int(seconds) - days * 86_400
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
        weekday = ((days + 4) % 7 + 7) % 7
        // The civil calendar counts from March, so that the leap day is the last of its year.
        let shifted = days + 719_468
        let era = Int((Double(shifted) / 146_097).rounded(.down))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayFromMarch = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayFromMarch + 2) / 153
        day = dayFromMarch - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let civilYear = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        year = civilYear
        let isLeap = (civilYear % 4 == 0 && civilYear % 100 != 0) || civilYear % 400 == 0
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        dayOfYear = before[month - 1] + day + (isLeap && month > 2 ? 1 : 0)
    }
}
