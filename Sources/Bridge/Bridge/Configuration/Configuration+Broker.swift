internal import DataPoints
internal import Feeds
internal import Publisher
internal import TOML

extension Configuration.Broker {
    init(reading table: TableReader) {
        self.init()
        pointsPerMessage = table.integer("points_per_message", in: 1...10_000) ?? pointsPerMessage
        guard let text = table.string("topic") else { return }
        topic = text
        do {
            // Any name will do: it is letters, digits and dashes.
            _ = try TopicTemplate(text, name: "name")
        } catch {
            let problem =
                switch error {
                case .noFeed: "has no {feed}, so all feeds would share one topic"
                case .unknown(let what): "has \(what); there are {name} and {feed}"
                case .noTopic: "is no topic: it may not hold + or #, nor begin with $"
                }
            table.problem(at: "topic", "topic \"\(text)\" \(problem)")
        }
    }
}

extension TableReader {
    /// A topic of a broker.
    func topic(_ key: String) -> String? {
        guard let text = string(key) else { return nil }
        guard TopicTemplate.isTopic(text) else {
            problem(at: key, "\(key) \"\(text)\" is no topic: it may not be empty, hold + or #, nor begin with $")
            return nil
        }
        return text
    }
}

extension Configuration {
    /// Where things are on the plain broker.
    var broker: PlainBroker? { account.isPlain ? Self.broker(account, control, name: name) : nil }

    private static func broker(_ account: Account, _ control: Switch, name: String) -> PlainBroker? {
        guard let topics = try? TopicTemplate(account.broker.topic, name: name) else { return nil }
        return PlainBroker(
            topics: topics,
            switchTopic: control.topic ?? topics.topic(of: control.feed),
            statusTopic: control.statusTopic ?? topics.topic(of: control.statusFeed),
            controlFeed: control.feed,
            statusFeed: control.statusFeed
        )
    }

    /// Nothing that the bridge publishes by itself may come back as a word of the switch, or stand in its status.
    static func checkTopics(_ account: Account, _ control: Switch, name: String, rules: [Rule], _ root: TableReader) {
        guard let broker = broker(account, control, name: name) else { return }
        let place = root.table.entry("switch")?.value.position ?? root.table.position
        if broker.switchTopic == broker.statusTopic {
            root.report(
                at: place,
                "[switch] topic and status_topic are both \"\(broker.switchTopic)\"; they must differ"
            )
        }
        for rule in rules where rule.rule.feed != control.feed && rule.rule.feed != control.statusFeed {
            let topic = broker.topic(rule.rule.feed)
            guard topic == broker.switchTopic || topic == broker.statusTopic else { continue }
            root.report(
                at: TOMLPosition(line: rule.position.line, column: rule.position.column),
                "topic \"\(topic)\" of feed \"\(rule.rule.feed)\" belongs to the [switch]; give the rule another feed"
            )
        }
    }
}
