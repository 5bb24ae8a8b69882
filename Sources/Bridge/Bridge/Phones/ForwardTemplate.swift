internal import FastJSON

/// What a device is sent: a text with `{value}` where the feed's value goes.
public struct ForwardTemplate: Sendable, Hashable {
    private static let mark = "{value}"
    private let before: String
    private let after: String
    private let isJSON: Bool
    private let isQuoted: Bool

    /// Nil when `{value}` is not in it, or more than once.
    public init?(_ text: String) {
        guard let range = text.firstRange(of: Self.mark) else { return nil }
        before = String(text[..<range.lowerBound])
        after = String(text[range.upperBound...])
        guard after.firstRange(of: Self.mark) == nil else { return nil }
        isJSON = before.first.map { "{[".contains($0) } ?? false
        isQuoted = before.hasSuffix("\"") && after.hasPrefix("\"")
    }

    /// The text for `value`; nil when it would not be the JSON that the template is: nothing gets out of its place.
    func text(for value: String) -> String? {
        guard isJSON else { return before + value + after }
        if isQuoted {
            let quoted = JSON.string(value).serialized()
            return before + quoted.dropFirst().dropLast() + after
        }
        guard let json = try? JSON.parse(value), json.object == nil, json.array == nil else { return nil }
        return before + json.serialized() + after
    }
}
