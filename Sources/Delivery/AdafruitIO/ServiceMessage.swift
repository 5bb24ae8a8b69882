internal import FastJSON

/// A message of the `errors` or the `throttle` topic, understood as far as possible.
public struct ServiceMessage: Sendable, Hashable {
    /// What happened.
    public enum Reason: Sendable, Hashable {
        /// Too many data points; nothing is taken for so long.
        case dataRate(wait: Duration)
        /// So many SUBSCRIBE requests are left in this minute.
        case subscribesLeft(Int)
        /// Too many requests of one kind.
        case tooManyRequests
        /// The whole account is banned for so long.
        case banned(Duration)
        /// The account is banned, and something was rejected for that.
        case blocked
        /// The topic is none of the service's.
        case invalidTopic
        /// Another account's topic that is no feed.
        case notSharedFeed
        /// Another account's feed that is not shared, or there is no such feed.
        case notAuthorized
        /// Too many messages at once; the service disconnects.
        case flood
        /// The value or the name does not meet the rules; the text says which.
        case validation
        /// Something else; the text is all that is known.
        case other
    }

    /// What happened.
    public var reason: Reason
    /// The service's own words.
    public var text: String

    /// Reads a payload, with the double quotes that the service puts around it or without.
    public init(_ payload: some Collection<UInt8>) {
        self.init(String(decoding: payload, as: UTF8.self))
    }

    /// Reads a text, with the double quotes that the service puts around it or without.
    public init(_ payload: String) {
        let trimmed = Substring(payload).trimmingSpaces
        var text = String(trimmed)
        if trimmed.utf8.count >= 2, trimmed.first == "\"", trimmed.last == "\"" {
            text = (try? JSON.parse(text).string) ?? String(trimmed.dropFirst().dropLast())
        }
        self.text = text
        reason = ServiceMessage.reason(in: text.lowercased())
    }

    /// How long nothing may be sent, when the message says so.
    public var wait: Duration? {
        switch reason {
        case .dataRate(let wait), .banned(let wait): wait
        default: nil
        }
    }

    private static func reason(in text: String) -> Reason {
        if text.contains("data rate limit reached") || text.contains("until throttle released") {
            return .dataRate(wait: .seconds(number(in: text, before: " second") ?? 60))
        }
        if text.contains("banned for ") {
            return .banned(.seconds(number(in: text, before: " second") ?? 60))
        }
        if let left = number(in: text, before: " attempt"), text.contains("remaining") {
            return .subscribesLeft(left)
        }
        let sentences: [(String, Reason)] = [
            ("too many requests", .tooManyRequests),
            ("temporarily blocked", .blocked),
            ("request flood", .flood),
            ("not a valid resource topic", .invalidTopic),
            ("only shared feeds", .notSharedFeed),
            ("topics for shared resources", .notSharedFeed),
            ("not authorized", .notAuthorized),
            ("not available", .notAuthorized),
            ("validation failed", .validation),
        ]
        return sentences.first { text.contains($0.0) }?.1 ?? .other
    }

    /// The whole number that stands right before the last `words`; clamped to a day of seconds.
    private static func number(in text: String, before words: String) -> Int? {
        var found: Int?
        var rest = Substring(text)
        while let place = rest.firstRange(of: words) {
            let before = rest[..<place.lowerBound]
            let digits = before.reversed().prefix { $0.isASCII && $0.isNumber }.reversed()
            if !digits.isEmpty { found = min(Int(String(digits)) ?? 86_400, 86_400) }
            rest = rest[place.upperBound...]
        }
        return found
    }
}
