public import Diagnostics

/// Times as people type them: ISO 8601 with a zone, `now`, or a time ago such as `-15 min`.
public enum TimeArgument {
    /// The moment that `text` means at `now`; nil when it means none.
    public static func moment(_ text: String, now: Timestamp) -> Timestamp? {
        if text == "now" { return now }
        if text.hasPrefix("-"), let ago = Quantity.duration(String(text.dropFirst())) { return now - ago }
        return Timestamp(iso8601: text)
    }
}
