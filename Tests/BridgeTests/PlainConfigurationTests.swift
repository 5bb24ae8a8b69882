import Control
import Diagnostics
import Feeds
import Foundation
import MQTT
import Publisher
import TestKit
import Testing

@testable import Bridge

@Suite("Configuration of a plain broker")
struct PlainConfigurationTests {
    private func problems(_ text: String) -> [String] {
        do {
            _ = try Configuration(parsing: text, file: "feedbridge.toml")
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    private func configuration(_ account: String = "", _ rest: String = "") throws -> Configuration {
        try Configuration(parsing: Self.text(account, rest), file: "feedbridge.toml")
    }

    private static func text(_ account: String = "", _ rest: String = "") -> String {
        "name = \"shed\"\n[account]\nprofile = \"mqtt\"\nmqtt = \"mqtt://broker.lan\"\n\(account)\n\(rest)"
    }

    private static let rule = """
        [[rule]]
        stream = "host.load"
        field = "one_minute"
        feed = "load"
        every = "10 s"

        """

    @Test("needs a broker and nothing else: no user, no key, no limit, topics by name and feed")
    func smallest() throws {
        let configuration = try configuration("", Self.rule)

        #expect(configuration.account.isPlain)
        #expect(configuration.account.username.isEmpty)
        #expect(configuration.account.mqtt.description == "mqtt://broker.lan:1883")
        #expect(configuration.account.knownPoints == nil)
        #expect(try ConfigurationFile.key(for: configuration, environment: ["ADAFRUIT_IO_KEY": "secret"]) == nil)
        let broker = try #require(configuration.broker)
        #expect(broker.switchTopic == "shed/recording")
        #expect(broker.statusTopic == "shed/recording-status")
        #expect(broker.topic(configuration.rules[0].rule.feed) == "shed/load")
        let settings = PublisherSettings(configuration)
        guard case .plain(_, pointsPerMessage: 1) = settings.profile else {
            Issue.record("\(settings.profile)")
            return
        }
        #expect(settings.plan == nil)
        let access = try PublisherAccess(configuration, key: nil)
        #expect(access.client == nil)
        #expect(access.connection.username == nil && access.connection.password == nil)
        #expect(access.connection.will?.topic == "shed/recording-status")
        #expect(access.connection.will?.payload == Array("offline".utf8))
        #expect(access.connection.will?.retain == true)
        let control = try SwitchSetup(configuration).settings
        #expect(!control.canAsk && !control.hasREST)
    }

    @Test("reads topics, points in a message, a plan and a user")
    func reads() throws {
        let configuration = try configuration(
            """
            username = "a/b c"
            topic = "home/{feed}/{name}"
            points_per_message = 20
            plan = 600
            insecure_plaintext = true
            """,
            "[switch]\ntopic = \"home/on\"\nstatus_topic = \"home/is\"\n"
        )

        let broker = try #require(configuration.broker)
        #expect(broker.switchTopic == "home/on" && broker.statusTopic == "home/is")
        #expect(broker.topic(feed("a.b")) == "home/a.b/shed")
        #expect(PublisherSettings(configuration).plan == 600)
        #expect(configuration.account.broker.pointsPerMessage == 20)
        let environment = ["MQTT_PASSWORD": "word"]
        let key = try ConfigurationFile.key(for: configuration, environment: environment)
        #expect(key?.reveal() == "word")
        #expect(try PublisherAccess(configuration, key: key).connection.username == "a/b c")
        #expect(try ConfigurationFile.key(for: configuration, environment: [:]) == nil)
    }

    @Test(
        "says what is wrong, with its place",
        arguments: [
            ("topic = \"home/{name}\"", "", "has no {feed}"), ("topic = \"{feed}/{stream}\"", "", "has {stream}"),
            ("topic = \"+/{feed}\"", "", "is no topic"), ("points_per_message = 0", "", "must be from 1"),
            ("username = \"ada\"", "", "would send the key unencrypted"), ("username = \"\"", "", "leave it out"),
            ("key_file = \"/key\"", "", "username is missing"), ("plan = \"free\"", "", "a number of points"),
            ("", "[switch]\ntopic = \"a/#\"\n", "is no topic"),
            ("", "[switch]\ntopic = \"a\"\nstatus_topic = \"a\"\n", "they must differ"),
            ("", rule + "[switch]\ntopic = \"shed/load\"\n", "belongs to the [switch]"),
            ("", rule + "[switch]\nstatus_topic = \"shed/load\"\n", "belongs to the [switch]"),
        ]
    )
    func wrong(account: String, rest: String, words: String) {
        let problems = problems(Self.text(account, rest))

        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.contains(words) == true, "\(problems)")
        #expect(problems.first?.hasPrefix("feedbridge.toml:") == true)
    }

    @Test("the broker has to be named: data never goes to Adafruit IO by mistake")
    func unnamed() {
        let problems = problems("[account]\nprofile = \"mqtt\"\n")

        #expect(problems.count == 1 && problems[0].contains("mqtt is missing"), "\(problems)")
        #expect(self.problems("[account]\nprofile = \"mqqt\"\nusername = \"ada\"\n").count == 1)
    }
}
