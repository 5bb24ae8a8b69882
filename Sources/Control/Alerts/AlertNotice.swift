public import Diagnostics
public import Samples

/// One thing to be done, because an alert began or ended.
public struct AlertNotice: Sendable, Hashable {
    /// The alert's name.
    public let alert: String
    /// Whether it began; otherwise it ended.
    public let isBegin: Bool
    /// What is to be done.
    public let action: AlertAction
    /// The stream that it is about.
    public let stream: Name
    /// The field that it is about.
    public let field: Name?
    /// The value that decided, as text; empty when none came.
    public let value: String
    /// When that was.
    public let time: Timestamp

    /// `began` or `ended`.
    public var state: String { isBegin ? "began" : "ended" }

    /// One sentence for people.
    public var sentence: String {
        let place = field.map { "\(stream).\($0)" } ?? "\(stream)"
        return "Alert \(alert) \(state): \(place) is \(value.isEmpty ? "missing" : value)."
    }

    /// `text` with what stands in braces filled in.
    public func filled(_ text: String) -> String {
        var rest = text[...]
        var result = ""
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}") else { break }
            let word = rest[rest.index(after: open)..<close]
            result += self.word(word) ?? String(rest[...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    private func word(_ name: Substring) -> String? {
        switch name {
        case "name": alert
        case "state": state
        case "value": value
        case "stream": stream.text
        case "field": field?.text ?? ""
        case "time": time.description
        default: nil
        }
    }

    /// What a command is told: its whole environment, without control characters and at most a kilobyte each.
    public var environment: [(name: String, value: String)] {
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"),
            ("FEEDBRIDGE_ALERT", AlertNotice.clean(alert)), ("FEEDBRIDGE_STATE", state),
            ("FEEDBRIDGE_VALUE", AlertNotice.clean(value)), ("FEEDBRIDGE_STREAM", stream.text),
            ("FEEDBRIDGE_FIELD", field?.text ?? ""), ("FEEDBRIDGE_TIME", time.description),
        ]
    }

    static func clean(_ text: String) -> String {
        var clean = String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
        while clean.utf8.count > 1_024 { clean.removeLast() }
        return clean
    }
}
