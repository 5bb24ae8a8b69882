import Testing

@testable import AdafruitIO

@Suite("Topics")
struct TopicTests {
    @Test(
        "every documented topic is read, and written as it was",
        arguments: [
            "ada/f/temperature", "ada/feeds/temperature", "ada/feeds/temperature/json", "ada/f/temperature/csv",
            "ada/f/temperature/get", "ada/feeds/temperature/csv/get", "ada/f/temperature/json/get",
            "ada/groups/weather", "ada/g/weather/json", "ada/g/weather/csv", "ada/g/weather/get",
            "ada/g/weather/csv/get", "ada/feeds/weather.humidity", "ada/f/Test Mode", "ada/throttle", "ada/errors",
            "time/seconds", "time/millis", "time/ISO-8601", "time/hours", "ada/integration/weather/12/current",
            "ada/integration/words/7",
        ]
    )
    func roundTrip(text: String) throws {
        let topic = try #require(AdafruitIOTopic(text))

        #expect(topic.text == text)
    }

    @Test(
        "what is no resource is not read",
        arguments: [
            "", "ada", "ada/", "/ada/f/x", "ada/f", "ada/f/", "ada/f/x/", "ada/f/x/xml", "ada/f/x/get/csv",
            "ada/f/x/y/z", "ada/throttle/x", "ada/error", "time/iso", "time/seconds/x", "ada/tele/x/LWT", "ada/f/+",
            "ada/f/#", "ada/f/a\0b", "ada/f//csv", "ada/integration/weather",
        ]
    )
    func refused(text: String) {
        #expect(AdafruitIOTopic(text) == nil)
    }

    @Test("a topic's parts are told apart")
    func parts() {
        let expected = ResourceTopic(user: "bob", identifier: "weather.rain", form: .csv, isGet: true, isShort: false)

        #expect(AdafruitIOTopic("bob/feeds/weather.rain/csv/get") == .feed(expected))
        #expect(AdafruitIOTopic("bob/g/weather") == .group("weather", of: "bob"))
        #expect(AdafruitIOTopic("bob/errors") == .errors(user: "bob"))
        #expect(AdafruitIOTopic("time/ISO-8601") == .time(.iso8601))
        #expect(AdafruitIOTopic("time/hours")?.user == nil)
    }

    @Test("topics are built in the short spelling unless asked otherwise")
    func built() {
        #expect(AdafruitIOTopic.feed("load", of: "ada").text == "ada/f/load")
        #expect(AdafruitIOTopic.feed("load", of: "ada", get: true).text == "ada/f/load/get")
        #expect(AdafruitIOTopic.group("g1", of: "ada", form: .json, short: false).text == "ada/groups/g1/json")
    }
}

@Suite("Names and keys")
struct NameTests {
    @Test(
        "a key comes from its name as the service makes it",
        arguments: [
            ("DemoFeed", "demofeed"), ("Garbage f40afe36", "garbage-f40afe36"), ("mq6_gas", "mq6-gas"),
            ("Test Mode", "test-mode"), ("temperature", "temperature"), (" A  b_-c ", "a-b-c"),
        ]
    )
    func key(name: String, key: String) {
        #expect(NameRules.key(of: name) == key)
    }

    @Test("a name has a letter and nothing but ASCII letters, digits, spaces, dashes, underscores")
    func names() {
        for name in ["a", "Feed 1", "mq6_gas", "x-y"] { #expect(NameRules.isName(name)) }
        for name in ["", "12", "-_", "caf\u{e9}", "a.b", "a/b", "a:b", String(repeating: "a", count: 129)] {
            #expect(!NameRules.isName(name))
        }
    }

    @Test("an identifier has at most one dot, with something on both sides")
    func identifiers() {
        #expect(FeedIdentifier("rain") == FeedIdentifier(group: nil, feed: "rain"))
        #expect(FeedIdentifier("weather.rain") == FeedIdentifier(group: "weather", feed: "rain"))
        #expect(FeedIdentifier("weather.rain")?.description == "weather.rain")
        for text in ["", ".", "a.", ".b", "a.b.c"] { #expect(FeedIdentifier(text) == nil) }
    }
}
