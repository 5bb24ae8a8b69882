internal import Diagnostics

/// A moment as HTTP's `Date` header shows it: `Sun, 06 Nov 1994 08:49:37 GMT`.
struct HTTPDate: CustomStringConvertible {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let time: Timestamp

    init(_ time: Timestamp) { self.time = time }

    var description: String {
        // The ISO form has the parts that matter: 1994-11-06T08:49:37Z.
        let parts = time.iso8601(fractionDigits: 0).split { !$0.isNumber }.map(String.init)
        guard parts.count == 6, let month = Int(parts[1]), (1...12).contains(month) else { return "" }
        let days = Int((Double(time.nanoseconds) / 86_400e9).rounded(.down))
        let weekday = Self.weekdays[((days % 7) + 7) % 7]
        return "\(weekday), \(parts[2]) \(Self.months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
