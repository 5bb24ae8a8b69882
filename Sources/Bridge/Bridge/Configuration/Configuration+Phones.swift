internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import MQTT
internal import PhoneSamplers
internal import Samples
internal import TOML

extension PushConfiguration {
    /// The kinds of samplers whose sources send by themselves.
    static let kinds = ["sensor-logger", "owntracks", "overland", "json", "mqtt"]

    init?(reading table: TableReader, kind: String) {
        let whenOff: WhenOff = table.word("when_off", default: .keep)
        let name = kind == "mqtt" ? nil : table.name("name")
        var topics = Self.topics(table)
        let app: App
        switch kind {
        case "sensor-logger":
            app = .sensorLogger(table.word("platform", default: .auto), table.word("standardised", default: .auto))
        case "owntracks":
            app = .ownTracks(stepsEvery: table.duration("steps_every"), secretFile: table.string("secret_file"))
        case "overland":
            app = .overland
        case "json":
            app = .json(JSONMapping(reading: table))
        default:
            let preset: DeviceShape.Preset? =
                table.has("preset") ? table.word("preset", default: .zigbee2mqtt) : nil
            app = .mqtt(DeviceShape(preset, mapping: JSONMapping(reading: table)))
            if topics.isEmpty, let preset { topics = [preset.topics] }
            if topics.isEmpty, !table.has("topic") {
                table.problem(
                    at: "topic",
                    "topic is missing: what to read on the broker, such as \"home/+/temperature\""
                )
                return nil
            }
        }
        if kind == "overland", !topics.isEmpty {
            table.problem(at: "topic", "Overland speaks HTTP only: leave topic out")
        }
        self.init(app, name: name, whenOff: whenOff, topics: topics)
    }

    /// One topic, or a list of them; wildcards are fine.
    private static func topics(_ table: TableReader) -> [String] {
        guard let value = table.value("topic") else { return [] }
        let topics = value.string.map { [$0] } ?? value.array?.compactMap(\.string) ?? []
        guard !topics.isEmpty, topics.count == value.array?.count ?? 1, topics.allSatisfy(MQTTTopic.isFilter) else {
            table.problem(
                at: "topic",
                "topic must be a topic of MQTT such as \"home/+/temperature\", or a list of them"
            )
            return []
        }
        return topics
    }
}

extension PhyphoxConfiguration {
    init?(reading table: TableReader) {
        let text = table.string("url")
        let every = table.duration("every") ?? .milliseconds(500)
        let name = table.name("name")
        guard let text, let url = Endpoint(text, schemes: ["http"]) else {
            table.problem(
                at: "url",
                "url must be what phyphox shows for remote access, such as \"http://192.168.1.20:8080\""
            )
            return nil
        }
        self.init(url: "\(url)", every: every, name: name)
    }
}

extension JSONMapping {
    init(reading table: TableReader) {
        let stream = table.name("stream")
        let time = table.string("time")
        let map = table.subtable("map")
        var entries: [Entry] = []
        for member in map.table.entries {
            let inner = member.value.table
            let target = member.value.string ?? inner?["field"]?.string
            let unit = inner?["unit"]?.string.map { Unit(rawValue: String($0.prefix(16))) }
            guard let target, let entry = Entry(member.key, target: target, unit: unit),
                inner?.entries.allSatisfy({ ["field", "unit"].contains($0.key) }) ?? true
            else {
                map.report(
                    at: member.value.position,
                    "map says what becomes of a member: \"/temperature\" = \"temperature.value\", or = { field = \"co2\", unit = \"ppm\" }"
                )
                continue
            }
            entries.append(entry)
        }
        self.init(entries: entries, stream: stream, time: time)
    }
}

extension Configuration.HomeBroker {
    init?(reading table: TableReader) {
        defer { table.finish() }
        let text = table.string("url")
        let username = table.string("username")
        let passwordFile = table.string("password_file")
        let caFile = table.string("ca_file")
        guard let text else {
            if !table.has("url") {
                table.problem(
                    at: "url",
                    "[broker] url is missing: where the local broker is, such as \"mqtt://localhost:1883\""
                )
            }
            return nil
        }
        guard let url = Endpoint(text, schemes: ["mqtt", "mqtts"]) else {
            table.problem(at: "url", "url must be like \"mqtt://localhost:1883\", not \"\(text)\"")
            return nil
        }
        self.init(url: url, username: username, passwordFile: passwordFile, caFile: caFile)
    }
}

extension Configuration.Forward {
    init?(reading table: TableReader) {
        defer { table.finish() }
        let feed = table.feed("feed")
        let topic = table.string("topic")
        let text = table.string("template") ?? "{value}"
        let retain = table.flag("retain", default: false)
        if topic.map({ !MQTTTopic.isName($0) }) ?? !table.has("topic") {
            table.problem(
                at: "topic",
                "topic must be the topic where the device listens, such as \"zigbee2mqtt/lamp/set\""
            )
            return nil
        }
        guard let template = ForwardTemplate(text) else {
            table.problem(at: "template", "template must hold {value}, such as '{\"state\":\"{value}\"}'")
            return nil
        }
        guard let feed, let topic else { return nil }
        self.init(position: table.position, feed: feed, topic: topic, template: template, retain: retain)
    }
}

extension Configuration {
    /// Whether sources may bring streams that nobody knows yet.
    var othersMayCome: Bool { samplers.contains { $0.kind.isPush } }

    /// What cannot work with phones and devices as it is configured.
    var phoneProblems: [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func add(_ position: Position, _ text: String) {
            problems.append(
                ConfigurationProblem(file: file, line: position.line, column: position.column, text: text)
            )
        }
        var addresses: Set<String> = []
        for sampler in samplers {
            guard case .push(let push) = sampler.kind else { continue }
            let kind = push.app.kind
            if !push.topics.isEmpty, homeBroker == nil {
                add(sampler.position, "a topic needs the local broker: add [broker] url = \"mqtt://localhost:1883\"")
            } else if push.topics.isEmpty, http.listen == nil {
                add(
                    sampler.position,
                    "kind = \"\(kind)\" needs a place to post to: add [http] listen = \"0.0.0.0:8377\""
                )
            }
            if kind != "mqtt", !addresses.insert("\(kind)/\(push.name?.text ?? "")").inserted {
                add(sampler.position, "another sampler has the same address: give this one a name = \"...\" of its own")
            }
        }
        for forward in forwards {
            if homeBroker == nil {
                add(
                    forward.position,
                    "[[forward]] needs the local broker: add [broker] url = \"mqtt://localhost:1883\""
                )
            }
            if forward.feed == control.feed || forward.feed == control.statusFeed {
                add(forward.position, "feed \"\(forward.feed)\" belongs to the [switch]; give the control another feed")
            }
            if forwards.contains(where: { $0.position != forward.position && $0.topic == forward.topic }) {
                add(forward.position, "two controls publish to \(forward.topic); leave one out")
            }
            if let sampler = loop(through: forward) {
                add(
                    forward.position,
                    "what is published to \(forward.topic) would come back through the sampler in line \(sampler.position.line) and the rule for feed \"\(forward.feed)\": a loop. Use the topic where the device listens"
                )
            }
        }
        return problems
    }

    /// A sampler that reads what the control publishes, while a rule publishes to the control's feed.
    private func loop(through forward: Forward) -> Sampler? {
        guard rules.contains(where: { $0.rule.feed == forward.feed }) else { return nil }
        return samplers.first { sampler in
            guard case .push(let push) = sampler.kind, case .mqtt(let shape) = push.app,
                !shape.ignores(forward.topic)
            else { return false }
            return push.topics.contains { MQTTTopic.matches(forward.topic, filter: $0) }
        }
    }
}
