/// The rules for names of feeds, groups and dashboards, and how a key comes from a name.
public enum NameRules {
    /// The most characters that a name or a key may have.
    public static let longest = 128

    /// What the service says about a name that it does not take.
    public static let complaint = "Name may contain only letters, digits, underscores, spaces, or dashes"

    /// Whether `name` is a name that the service takes: letters, digits, spaces, dashes and underscores, all ASCII, at
    /// least one letter.
    public static func isName(_ name: some StringProtocol) -> Bool {
        guard !name.isEmpty, name.utf8.count <= longest else { return false }
        var hasLetter = false
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): hasLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"): break
            default: return false
            }
        }
        return hasLetter
    }

    /// The key that the service makes of a name: lower case, everything else a single dash, none at the ends.
    ///
    /// `DemoFeed` gives `demofeed`, `mq6_gas` gives `mq6-gas`, `Garbage f40afe36` gives `garbage-f40afe36`.
    public static func key(of name: some StringProtocol) -> String {
        var key: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): key.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): key.append(byte | 0x20)
            default: if let last = key.last, last != UInt8(ascii: "-") { key.append(UInt8(ascii: "-")) }
            }
        }
        if key.last == UInt8(ascii: "-") { key.removeLast() }
        return String(decoding: key.prefix(longest), as: UTF8.self)
    }
}

/// What a topic or an address names a feed with: `feed`, or `group.feed`, each part a key or a name.
public struct FeedIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The group's part; nil means the default group.
    public var group: String?
    /// The feed's part.
    public var feed: String

    /// Reads an identifier; nil when a part is empty, there is more than one dot, or it is longer than the service takes.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= NameRules.longest }) else {
            return nil
        }
        group = parts.count == 2 ? String(parts[0]) : nil
        feed = String(parts[parts.count - 1])
    }

    /// Makes an identifier from its parts.
    public init(group: String?, feed: String) {
        self.group = group
        self.feed = feed
    }

    /// The identifier as written in topics and addresses.
    public var description: String { group.map { "\($0).\(feed)" } ?? feed }
}
