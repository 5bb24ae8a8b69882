/// The rules of topics and filters.
public enum MQTTTopic {
    /// Whether `topic` may be published to: not empty, no wildcard, at most 65,535 bytes of text.
    public static func isName(_ topic: String) -> Bool {
        !topic.isEmpty && isText(topic) && !topic.utf8.contains { $0 == plus || $0 == hash }
    }

    /// Whether `filter` may be subscribed to: `+` fills a level, `#` is the last level.
    public static func isFilter(_ filter: String) -> Bool {
        guard !filter.isEmpty, isText(filter) else { return false }
        let levels = filter.utf8.split(separator: slash, omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains(where: { $0 == plus || $0 == hash }) {
            guard level.count == 1 else { return false }
            if level.first == hash, index != levels.count - 1 { return false }
        }
        return true
    }

    /// Whether a message to `topic` belongs to `filter`. Wildcards in front do not match topics that start with `$`.
    public static func matches(_ topic: String, filter: String) -> Bool {
        var filter = filter[...].utf8
        if filter.starts(with: sharedPrefix) {
            // $share/GROUP/FILTER of MQTT 5
            let parts = filter.split(separator: slash, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return false }
            filter = parts[2]
        }
        var rest = topic[...].utf8
        if rest.first == dollar, filter.first == plus || filter.first == hash { return false }
        while true {
            let level = filter.prefix { $0 != slash }
            if level.count == 1, level.first == hash { return true }
            let name = rest.prefix { $0 != slash }
            guard level.count == 1 && level.first == plus || level.elementsEqual(name) else { return false }
            filter = filter.dropFirst(level.count)
            rest = rest.dropFirst(name.count)
            switch (filter.isEmpty, rest.isEmpty) {
            case (true, true): return true
            case (true, false): return false
            // "a/#" is for "a" too
            case (false, true): return filter.elementsEqual([slash, hash])
            case (false, false):
                filter = filter.dropFirst()
                rest = rest.dropFirst()
            }
        }
    }

    /// Whether libmosquitto takes `text`: no control characters, no code points that are no characters, not too long.
    static func isText(_ text: String) -> Bool {
        guard text.utf8.count <= 65_535 else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0...0x1f, 0x7f...0x9f, 0xfdd0...0xfdef: false
            default: scalar.value & 0xfffe != 0xfffe
            }
        }
    }

    private static let slash = UInt8(ascii: "/")
    private static let plus = UInt8(ascii: "+")
    private static let hash = UInt8(ascii: "#")
    private static let dollar = UInt8(ascii: "$")
    private static let sharedPrefix = Array("$share/".utf8)
}
