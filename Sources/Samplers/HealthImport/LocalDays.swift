internal import Glibc

/// A calendar day of a place, which has 23, 24 or 25 hours.
public struct LocalDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The year.
    public let year: Int
    /// The month, from 1.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Makes a day.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The order of time.
    public static func < (left: LocalDay, right: LocalDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// `2014-09-13`.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

/// Which day a moment belongs to, and when that day begins and ends.
public protocol LocalDays: Sendable {
    /// The day of `seconds` since 1970, and its span in seconds since 1970: its end is the beginning of the next one.
    func day(of seconds: Int64) -> (day: LocalDay, span: Range<Int64>)
}

/// Days in the process's own time zone, as the C library knows it (`TZ`, `/etc/localtime`).
public struct SystemDays: LocalDays {
    /// Makes the calendar.
    public init() {}

    /// The day by `localtime_r`, its midnights by `mktime`.
    public func day(of seconds: Int64) -> (day: LocalDay, span: Range<Int64>) {
        var moment = time_t(seconds)
        var parts = tm()
        localtime_r(&moment, &parts)
        let day = LocalDay(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        let begin = min(midnight(parts, plusDays: 0), seconds)
        let end = max(midnight(parts, plusDays: 1), seconds + 1)
        return (day, begin..<end)
    }

    private func midnight(_ parts: tm, plusDays days: Int32) -> Int64 {
        var midnight = tm()
        midnight.tm_year = parts.tm_year
        midnight.tm_mon = parts.tm_mon
        midnight.tm_mday = parts.tm_mday + days
        midnight.tm_isdst = -1
        return Int64(mktime(&midnight))
    }
}
