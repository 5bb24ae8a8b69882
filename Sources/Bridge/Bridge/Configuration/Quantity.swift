internal import Diagnostics

/// Durations and sizes as people write them: `"250 ms"`, `"2 s"`, `"5 min"`, `"24 h"`, `"29 d"`, `"500 MB"`.
public enum Quantity {
    /// A duration, or nil when it is none. Up to a hundred years.
    public static func duration(_ text: String) -> Duration? {
        guard let (number, unit) = split(text) else { return nil }
        let seconds: Double? =
            switch unit {
            case "us", "µs": number / 1e6
            case "ms": number / 1000
            case "s": number
            case "min": number * 60
            case "h": number * 3600
            case "d": number * 86_400
            default: nil
            }
        guard let seconds, seconds <= 3.2e9 else { return nil }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// A number of bytes, or nil when it is none. `kB`, `MB`, `GB`, `TB` are powers of 1,000; `KiB` to `TiB` of 1,024.
    public static func bytes(_ text: String) -> Int? {
        guard let (number, unit) = split(text) else { return nil }
        let scale: Double? =
            switch unit {
            case "B": 1
            case "kB", "KB": 1e3
            case "MB": 1e6
            case "GB": 1e9
            case "TB": 1e12
            case "KiB": 1024
            case "MiB": 1_048_576
            case "GiB": 1_073_741_824
            case "TiB": 1_099_511_627_776
            default: nil
            }
        guard let scale, number * scale < 9e18 else { return nil }
        return Int((number * scale).rounded())
    }

    /// The duration in the largest unit that needs no fraction: `24 h`, `90 s`.
    public static func text(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        let units: [(String, Int64)] = [
            ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000),
            ("ms", 1_000_000),
        ]
        for (name, size) in units where nanoseconds % size == 0 && nanoseconds >= size {
            return "\(nanoseconds / size) \(name)"
        }
        return "\(duration.inSeconds) s"
    }

    private static func split(_ text: String) -> (Double, String)? {
        let trimmed = text.drop { $0 == " " }
        let digits = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = trimmed.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Double(digits), number.isFinite, !unit.isEmpty else { return nil }
        return (number, String(unit.reversed().drop { $0 == " " }.reversed()))
    }
}
