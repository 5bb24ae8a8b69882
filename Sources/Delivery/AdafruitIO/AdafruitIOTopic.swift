/// A topic of Adafruit IO's MQTT service, as published to or subscribed to. Wildcards are not topics.
public enum AdafruitIOTopic: Sendable, Hashable {
    /// `{user}/feeds/{key}` and its forms.
    case feed(ResourceTopic)
    /// `{user}/groups/{key}` and its forms.
    case group(ResourceTopic)
    /// `{user}/throttle`: warnings about rates.
    case throttle(user: String)
    /// `{user}/errors`: what was rejected, and bans.
    case errors(user: String)
    /// `time/seconds` and its like.
    case time(TimeTopic)
    /// `{user}/integration/weather/{id}/{type}` and its like: parts of the paid plan.
    case integration(user: String, kind: String, path: [String])

    /// Reads a topic; nil when Adafruit IO has no such resource.
    public init?(_ text: String) {
        let levels = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard levels.count >= 2, levels.allSatisfy({ !$0.isEmpty }), !text.contains(where: { "+#\0".contains($0) })
        else { return nil }
        if levels[0] == "time" {
            guard levels.count == 2, let topic = TimeTopic(rawValue: levels[1]) else { return nil }
            self = .time(topic)
            return
        }
        let user = levels[0]
        switch (levels[1], levels.count) {
        case ("throttle", 2):
            self = .throttle(user: user)
        case ("errors", 2):
            self = .errors(user: user)
        case ("integration", 4...), ("integrations", 4...):
            self = .integration(user: user, kind: levels[2], path: Array(levels[3...]))
        case ("feeds", 3...), ("f", 3...), ("groups", 3...), ("g", 3...):
            guard let ending = ResourceTopic.Ending(levels[3...]) else { return nil }
            let topic = ResourceTopic(
                user: user,
                identifier: levels[2],
                form: ending.form,
                isGet: ending.isGet,
                isShort: levels[1].utf8.count == 1
            )
            self = levels[1].hasPrefix("f") ? .feed(topic) : .group(topic)
        default:
            return nil
        }
    }

    /// The account that the topic belongs to; nil for the time topics.
    public var user: String? {
        switch self {
        case .feed(let topic), .group(let topic): topic.user
        case .throttle(let user), .errors(let user), .integration(let user, _, _): user
        case .time: nil
        }
    }

    /// The topic as text.
    public var text: String {
        switch self {
        case .feed(let topic): topic.text(kind: topic.isShort ? "f" : "feeds")
        case .group(let topic): topic.text(kind: topic.isShort ? "g" : "groups")
        case .throttle(let user): "\(user)/throttle"
        case .errors(let user): "\(user)/errors"
        case .time(let topic): "time/\(topic.rawValue)"
        case .integration(let user, let kind, let path):
            "\(user)/integration/\(kind)/\(path.joined(separator: "/"))"
        }
    }
}

extension AdafruitIOTopic: CustomStringConvertible {
    /// The topic as text.
    public var description: String { text }
}

extension AdafruitIOTopic {
    /// The topic of a feed: `{user}/f/{identifier}`, with `/json`, `/csv` and `/get` as asked.
    public static func feed(
        _ identifier: String,
        of user: String,
        form: PayloadForm = .plain,
        get: Bool = false,
        short: Bool = true
    ) -> AdafruitIOTopic {
        .feed(ResourceTopic(user: user, identifier: identifier, form: form, isGet: get, isShort: short))
    }

    /// The topic of a group: `{user}/g/{identifier}`, with `/json`, `/csv` and `/get` as asked.
    public static func group(
        _ identifier: String,
        of user: String,
        form: PayloadForm = .plain,
        get: Bool = false,
        short: Bool = true
    ) -> AdafruitIOTopic {
        .group(ResourceTopic(user: user, identifier: identifier, form: form, isGet: get, isShort: short))
    }
}

/// The clocks that Adafruit IO publishes.
public enum TimeTopic: String, Sendable, CaseIterable {
    /// Whole seconds since 1970, once a second.
    case seconds
    /// Milliseconds since 1970, once a second.
    case millis
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`, once a second.
    case iso8601 = "ISO-8601"
    /// The hour of the day in UTC, 0 to 23, once an hour.
    case hours
}
