public import DataPoints
internal import MQTT

/// The topics of feeds: a text in which `{feed}` stands for the feed's key.
public struct TopicTemplate: Sendable, Hashable {
    /// Why a text is no template.
    public enum Failure: Error, Sendable, Hashable {
        /// Without `{feed}` all feeds would share a topic.
        case noFeed
        /// There is nothing called so to fill in.
        case unknown(String)
        /// With a feed filled in it is no topic: a wildcard, a `$` in front, an empty or a very long text.
        case noTopic
    }

    /// What stands between the places for the feed.
    private let parts: [String]

    /// Takes a template; `{name}` becomes `name`.
    public init(_ text: String, name: String) throws(Failure) {
        var parts = [""]
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            parts[parts.count - 1] += rest[..<open]
            guard let close = rest[open...].firstIndex(of: "}") else { throw .unknown(String(rest[open...])) }
            switch rest[rest.index(after: open)..<close] {
            case "feed": parts.append("")
            case "name": parts[parts.count - 1] += name
            default: throw .unknown(String(rest[open...close]))
            }
            rest = rest[rest.index(after: close)...]
        }
        parts[parts.count - 1] += rest
        guard parts.count > 1 else { throw .noFeed }
        self.parts = parts
        // The longest key of a feed.
        let longest = String(repeating: "a", count: 128)
        guard TopicTemplate.isTopic(parts.joined(separator: longest)) else { throw .noTopic }
    }

    /// Whether a client may publish to `text`: topics that begin with `$` are the broker's.
    public static func isTopic(_ text: String) -> Bool { MQTTTopic.isName(text) && !text.hasPrefix("$") }

    /// The topic of a feed.
    public func topic(of feed: FeedKey) -> String { parts.joined(separator: feed.text) }
}
