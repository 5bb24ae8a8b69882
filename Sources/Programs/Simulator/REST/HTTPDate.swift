internal import Diagnostics
internal import Glibc

/// A moment as HTTP writes it: `Thu, 01 Jan 1970 00:00:00 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The moment cut to the second; nil when the C library has no date for it.
    static func text(_ moment: Timestamp) -> String? {
        var seconds = time_t(moment.nanoseconds / 1_000_000_000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil, days.indices.contains(Int(parts.tm_wday)),
            months.indices.contains(Int(parts.tm_mon))
        else { return nil }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + Int(parts.tm_year))"
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(date) \(time) GMT"
    }
}
