internal import FoundationEssentials

/// A moment in wall time: nanoseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public var nanoseconds: Int64

    /// Makes a moment from nanoseconds since 1970.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Makes a moment from seconds since 1970; beyond what nanoseconds can hold it is clamped.
    public init(seconds: Double) {
        let scaled = seconds * 1e9
        if scaled.isNaN {
            nanoseconds = 0
        } else if scaled >= 9.2e18 {
            nanoseconds = 9_200_000_000_000_000_000
        } else if scaled <= -9.2e18 {
            nanoseconds = -9_200_000_000_000_000_000
        } else {
            nanoseconds = Int64(scaled)
        }
    }

    /// Seconds since 1970; a `Double` holds today's times to a quarter of a microsecond.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Whether `left` is earlier than `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment `duration` after `start`; clamped at the ends of the range.
    public static func + (start: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = start.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Timestamp(nanoseconds: overflow ? (duration.nanoseconds > 0 ? .max : .min) : sum)
    }

    /// The moment `duration` before `start`; clamped at the ends of the range.
    public static func - (start: Timestamp, duration: Duration) -> Timestamp {
        let (difference, overflow) = start.nanoseconds.subtractingReportingOverflow(duration.nanoseconds)
        return Timestamp(nanoseconds: overflow ? (duration.nanoseconds > 0 ? .min : .max) : difference)
    }

    /// The time from `start` to `end`; negative when `end` is the earlier one.
    public static func - (end: Timestamp, start: Timestamp) -> Duration {
        .nanoseconds(end.nanoseconds.subtractingReportingOverflow(start.nanoseconds).partialValue)
    }
}

/// Stored as its nanoseconds since 1970.
extension Timestamp: Codable {
    /// Reads the nanoseconds.
    public init(from decoder: any Decoder) throws {
        self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the nanoseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}

extension Timestamp: CustomStringConvertible {
    /// ISO 8601 in UTC with milliseconds: `2026-05-01T12:00:00.250Z`.
    public var description: String { iso8601(fractionDigits: 3) }

    /// ISO 8601 in UTC with `fractionDigits` (0 to 9) digits of the second, cut and not rounded.
    public func iso8601(fractionDigits: Int) -> String {
        let (wholeSeconds, rest) = nanoseconds.floorDivided(by: 1_000_000_000)
        let date = Date(timeIntervalSince1970: Double(wholeSeconds))
        let text = date.formatted(.iso8601)
        guard fractionDigits > 0, text.hasSuffix("Z") else { return text }
        let digits = String(rest)
        let padded = String(repeating: "0", count: 9 - digits.count) + digits
        return text.dropLast() + "." + padded.prefix(fractionDigits) + "Z"
    }

    /// Reads ISO 8601 with a zone (`Z`, `+02:00`, `-0700`), with or without a fraction of the second; nil when it is not.
    public init?(iso8601 text: String) {
        var whole = text
        var fraction: Int64 = 0
        if let dot = text.firstIndex(where: { $0 == "." || $0 == "," }) {
            let rest = text[text.index(after: dot)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { return nil }
            let nine = digits.prefix(9)
            guard let number = Int64(nine + String(repeating: "0", count: 9 - nine.count)) else { return nil }
            fraction = number
            whole = String(text[..<dot] + rest.dropFirst(digits.count))
        }
        guard let date = try? Date(whole, strategy: .iso8601) else { return nil }
        let seconds = date.timeIntervalSince1970.rounded()
        guard seconds.magnitude < 9.2e9 else { return nil }
        nanoseconds = Int64(seconds) * 1_000_000_000 + fraction
    }
}

extension Int64 {
    /// Division that rounds down, and the remainder that is never negative.
    func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, cut; clamped beyond 292 years.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds > 0 ? .max : .min }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds > 0 ? .max : .min) : sum
    }

    /// The duration in seconds.
    public var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
