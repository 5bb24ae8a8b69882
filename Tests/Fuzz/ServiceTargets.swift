@testable import AdafruitIO
@testable import Simulator

extension FuzzTarget {
    /// What an MQTT client sends to the simulator, in pieces as the network cuts it.
    static let mqttWire = FuzzTarget(
        "mqtt-wire",
        seeds: [
            [7, 0x10, 16, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 60, 0, 4] + Array("test".utf8),
            [3, 0x32, 12, 0, 5] + Array("a/f/b".utf8) + [0, 1] + Array("2.5".utf8),
            [1, 0x82, 10, 0, 1, 0, 5] + Array("a/f/+".utf8) + [1, 0xA2, 9, 0, 2, 0, 5] + Array("a/f/b".utf8),
            [9, 0xC0, 0, 0xE0, 0, 0x40, 2, 0, 1],
        ]
    ) { bytes in
        var decoder = MQTTDecoder(limit: 4096)
        let piece = max(1, Int(bytes.first ?? 1))
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            decoder.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            do throws(MQTTViolation) {
                while try decoder.next() != nil {}
            } catch {
                return
            }
        }
    }

    /// Topics and filters.
    static let mqttTopics = FuzzTarget(
        "mqtt-topics",
        texts: [
            "ada/f/load", "ada/feeds/g.load/json", "ada/groups/g/csv/get", "ada/#", "ada/f/+", "time/iso", "ada/errors",
        ]
    ) { text in
        _ = AdafruitIOTopic(text)
        _ = FeedIdentifier(text)
        _ = NameRules.key(of: text)
        if let filter = TopicFilter(text) { _ = filter.matches(["ada", "f", "load"]) }
        _ = Subscription(text, qos: 1, user: "ada")
    }

    /// What stands in a message to a feed or a group, in all forms; what was read can be written and read again.
    static let payloads = FuzzTarget(
        "payloads",
        texts: [
            "2.5", #"{"value":1.50,"lat":1,"lon":2,"ele":3,"created_at":"2026-01-01T00:00:00Z"}"#,
            "22.7,38.1,-91.2,112",
            #"{"feeds":{"a":1,"b":"x"},"location":{"lat":1,"lon":2}}"#, "a,1\nb,\"2,\"\"3\"\nlocation,1,2,3",
        ]
    ) { text in
        let bytes = Array(text.utf8)
        for form in PayloadForm.allCases {
            if let payload = FeedPayload(bytes, form: form) {
                _ = FeedPayload.number(in: payload.value)
                for other in PayloadForm.allCases {
                    _ = FeedPayload(Array(payload.text(form: other).utf8), form: other)
                }
            }
            if let group = try? GroupPayload(bytes, form: form) { _ = group.text(form: form) }
        }
    }

    /// What the service says on `errors` and `throttle`.
    static let serviceTexts = FuzzTarget(
        "service-texts",
        texts: [
            "ada data rate limit reached, 23 seconds until throttle released",
            "ada PUBLISH rejected, ada/f/x: Value must be less than 1 KB", "ada temporarily banned for 60 seconds",
            "\"PUBLISH blocked, 12 seconds\"", "9 SUBSCRIBE attempts left in 1 minute",
        ]
    ) { text in
        let message = ServiceMessage(text)
        _ = message.wait
    }
}
