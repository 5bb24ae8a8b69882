import MQTT
import Testing

@Suite("Topics")
struct TopicTests {
    // The examples of MQTT 3.1.1, section 4.7, and mosquitto's own.
    @Test(
        "a filter matches what the standard says",
        arguments: [
            ("sport/tennis/player1/#", "sport/tennis/player1", true),
            ("sport/tennis/player1/#", "sport/tennis/player1/ranking", true),
            ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true),
            ("sport/#", "sport", true), ("#", "a/b/c", true), ("#", "", true),
            ("sport/tennis/+", "sport/tennis/player1", true),
            ("sport/tennis/+", "sport/tennis/player1/ranking", false), ("sport/+", "sport", false),
            ("sport/+", "sport/", true), ("+", "/finance", false), ("+/+", "/finance", true), ("/+", "/finance", true),
            ("#", "$SYS/x", false), ("+/monitor", "$SYS/monitor", false), ("$SYS/#", "$SYS/x", true),
            ("$SYS/monitor/+", "$SYS/monitor/Clients", true), ("a/b", "a/b", true), ("a/b", "a/b/", false),
            ("a//b", "a//b", true), ("a/+/b", "a//b", true), ("a", "A", false), ("a/b", "a", false),
            ("$share/group/a/+", "a/b", true), ("$share/group/a/+", "a/b/c", false), ("$share/group", "x", false),
            ("ü/+", "ü/x", true), ("a/b/#", "a", false),
        ]
    )
    func matches(filter: String, topic: String, expected: Bool) {
        #expect(MQTTTopic.matches(topic, filter: filter) == expected)
    }

    @Test("knows names from filters")
    func namesAndFilters() {
        #expect(MQTTTopic.isName("a/b") && !MQTTTopic.isName("a/+") && !MQTTTopic.isName(""))
        #expect(MQTTTopic.isFilter("a/+/#") && !MQTTTopic.isFilter("a/#/b") && !MQTTTopic.isFilter("a+"))
        #expect(MQTTTopic.isName(String(repeating: "a", count: 65_535)))
        #expect(!MQTTTopic.isName(String(repeating: "a", count: 65_536)))
    }
}
