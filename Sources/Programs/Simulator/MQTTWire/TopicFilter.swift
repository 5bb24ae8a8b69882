/// A topic filter of MQTT: levels, of which `+` stands for any one and a last `#` for any number.
struct TopicFilter: Sendable, Hashable {
    let levels: [String]

    /// Takes a filter; nil when a wildcard does not stand alone in its level, `#` is not the last, or it is empty.
    init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        levels = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        for (place, level) in levels.enumerated() {
            if level.contains("+"), level != "+" { return nil }
            if level.contains("#"), level != "#" || place != levels.count - 1 { return nil }
        }
    }

    var hasWildcard: Bool { levels.contains { $0 == "+" || $0 == "#" } }

    func matches(_ topic: [String]) -> Bool {
        for (place, level) in levels.enumerated() {
            if level == "#" { return true }
            guard place < topic.count, level == "+" || level == topic[place] else { return false }
        }
        // `a/#` matches `a` too: the loop has then returned only for a topic that is longer.
        return topic.count == levels.count
    }
}
