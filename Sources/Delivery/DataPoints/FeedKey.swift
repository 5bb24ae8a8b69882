/// The key of an Adafruit IO feed: lower-case letters, digits and dashes, or `group.feed`; at most 128 characters.
public struct FeedKey: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The key itself.
    public let text: String

    /// Takes `text` as it is, or nil when Adafruit IO would not have such a key.
    public init?(_ text: String) {
        guard text.utf8.count <= 128 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy(FeedKey.isPart) else { return nil }
        self.text = text
    }

    /// The group's key, or nil for a feed of the default group.
    public var group: String? {
        text.firstIndex(of: ".").map { String(text[..<$0]) }
    }

    /// The feed's own key within its group.
    public var short: String {
        text.firstIndex(of: ".").map { String(text[text.index(after: $0)...]) } ?? text
    }

    /// Alphabetical order by bytes.
    public static func < (left: FeedKey, right: FeedKey) -> Bool { left.text < right.text }

    /// The key itself.
    public var description: String { text }

    private static func isPart(_ part: Substring) -> Bool {
        !part.isEmpty
            && part.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
