internal import AdafruitIO
internal import BusSamplers
internal import Control
internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import IIOSamplers
internal import ImageSamplers
internal import Outbox
internal import PhoneSamplers
internal import ReplaySamplers
internal import Samples
internal import TOML

extension Configuration {
    /// Reads a configuration; throws everything that is wrong with it at once.
    ///
    /// `file` is how the user named it; relative paths in it are left as they are.
    public init(parsing text: String, file: String) throws(ConfigurationError) {
        let document: TOMLDocument
        do {
            document = try TOMLDocument(parsing: text, name: file)
        } catch {
            let problem = ConfigurationProblem(file: file, line: error.line, column: error.column, text: error.message)
            throw ConfigurationError(problems: [problem])
        }
        var problems: [ConfigurationProblem] = []
        let root = TableReader(document.root, file: file) { problems.append($0) }
        let configuration = Configuration(reading: root, file: file)
        root.finish()
        if let configuration, problems.isEmpty { problems = configuration.phoneProblems }
        if let configuration, problems.isEmpty { problems = configuration.ruleProblems(streams: nil) }
        guard let configuration, problems.isEmpty else {
            throw ConfigurationError(problems: problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
        }
        self = configuration
    }

    private init?(reading root: TableReader, file: String) {
        let name = root.string("name") ?? "feedbridge"
        if name.isEmpty || name.utf8.count > 64
            || !name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        {
            root.problem(at: "name", "name must be 1 to 64 letters, digits and dashes, not \"\(name)\"")
        }
        let state = root.string("state")
        let account = Account(reading: root.subtable("account"))
        let control = Switch(reading: root.subtable("switch"))
        let outbox = OutboxSettings(reading: root.subtable("outbox"))
        let recorder = Recorder(reading: root.subtable("recorder"))
        let http = HTTP(reading: root.subtable("http"))
        let homeBroker = root.has("broker") ? HomeBroker(reading: root.subtable("broker")) : nil
        let forwards = root.subtables("forward").compactMap(Forward.init(reading:))
        let samplers = root.subtables("sampler").map(Sampler.init(reading:))
        let derivations = Self.derivations(reading: root)
        let alerting = Self.alerting(reading: root)
        let rules = root.subtables("rule").map(Rule.init(reading:))
        guard let account, let control else { return nil }
        if account.isPlain { Self.checkTopics(account, control, name: name, rules: rules.compactMap(\.self), root) }
        for case let rule? in rules {
            if rule.rule.feed == control.feed || rule.rule.feed == control.statusFeed {
                root.report(
                    at: TOMLPosition(line: rule.position.line, column: rule.position.column),
                    "feed \"\(rule.rule.feed)\" belongs to the [switch]; give the rule another feed"
                )
            }
        }
        self.init(
            file: file,
            name: name,
            state: state,
            account: account,
            control: control,
            outbox: outbox,
            recorder: recorder,
            http: http,
            homeBroker: homeBroker,
            forwards: forwards,
            samplers: samplers.compactMap(\.self),
            derivations: derivations,
            alerting: alerting,
            rules: rules.compactMap(\.self)
        )
    }
}

extension TableReader {
    /// The key of a feed.
    func feed(_ key: String, default value: String? = nil) -> FeedKey? {
        guard let text = string(key) ?? value else {
            problem(at: key, "\(key) is missing: name the feed, such as \(key) = \"load\"")
            return nil
        }
        if let feed = FeedKey(text) { return feed }
        let suggestion = FeedKey(NameRules.key(of: text)).map { "; Adafruit IO would call it \"\($0)\"" } ?? ""
        problem(
            at: key,
            "\(key) \"\(text)\" is no key of an Adafruit IO feed: lower-case letters, digits and dashes, at most one dot\(suggestion)"
        )
        return nil
    }

    /// The name of a stream or field.
    func name(_ key: String) -> Name? {
        guard let text = string(key) else { return nil }
        if let name = Name(text) { return name }
        problem(at: key, "\(key) \"\(text)\" is no name: lower-case letters, digits, underscores and dots")
        return nil
    }

    var position: Configuration.Position {
        Configuration.Position(line: table.position.line, column: table.position.column)
    }
}

extension Configuration.Account {
    fileprivate init?(reading table: TableReader) {
        defer { table.finish() }
        let profile: Profile = table.word("profile", default: .adafruitIO)
        let username = table.string("username")
        if profile == .mqtt {
            if username?.isEmpty == true {
                table.problem(at: "username", "username must be a name; leave it out for a broker without log-in")
            }
        } else if username == nil {
            table.problem(at: "username", "[account] username is missing: the name of the Adafruit IO account")
        } else if username?.isEmpty != false
            || username?.contains(where: { "/+#".contains($0) || $0.isWhitespace }) == true
        {
            table.problem(at: "username", "username must be the name of an Adafruit IO account")
        }
        let plan = Self.plan(table, isPlain: profile == .mqtt)
        let insecure = table.flag("insecure_plaintext", default: false)
        if profile == .mqtt, !table.has("mqtt") {
            table.problem(
                at: "mqtt",
                "mqtt is missing: where the broker is, such as mqtt = \"mqtt://192.168.1.2:1883\""
            )
        }
        // Without a log-in there is no secret to send in the open.
        let mayBePlaintext = insecure || (profile == .mqtt && username?.isEmpty ?? true)
        let mqtt = Self.endpoint(table, "mqtt", "mqtts://io.adafruit.com:8883", ["mqtt", "mqtts"], mayBePlaintext)
        let rest = Self.endpoint(
            table,
            "rest",
            "https://io.adafruit.com",
            ["http", "https"],
            insecure || profile == .mqtt
        )
        let keyFile = table.string("key_file")
        if profile == .mqtt, username == nil, keyFile != nil {
            table.problem(at: "key_file", "key_file is the password of a user: username is missing")
        }
        let caFile = table.string("ca_file")
        let delivery = Configuration.Delivery(reading: table)
        let broker = Configuration.Broker(reading: table)
        guard let username = username ?? (profile == .mqtt ? "" : nil), let plan, let mqtt, let rest else { return nil }
        self.init(
            profile: profile,
            username: username,
            keyFile: keyFile,
            plan: plan,
            mqtt: mqtt,
            rest: rest,
            caFile: caFile,
            insecurePlaintext: insecure,
            delivery: delivery,
            broker: broker
        )
    }

    private static func plan(_ table: TableReader, isPlain: Bool) -> Plan? {
        guard let value = table.value("plan") else { return .auto }
        if let points = value.integer, (1...100_000).contains(points) { return .pointsPerMinute(Int(points)) }
        if isPlain {
            table.problem(
                at: "plan",
                "plan of a plain broker must be a number of points a minute; without it none is kept back"
            )
            return nil
        }
        switch value.string {
        case "auto": return .auto
        case "free": return .pointsPerMinute(AdafruitIOPlan.free.pointsPerMinute)
        case "plus": return .pointsPerMinute(AdafruitIOPlan.plus.pointsPerMinute)
        default:
            table.problem(at: "plan", "plan must be \"auto\", \"free\", \"plus\" or a number of points a minute")
            return nil
        }
    }

    private static func endpoint(
        _ table: TableReader,
        _ key: String,
        _ standard: String,
        _ schemes: [String],
        _ insecure: Bool
    ) -> Endpoint? {
        let text = table.string(key) ?? standard
        guard let endpoint = Endpoint(text, schemes: schemes) else {
            table.problem(at: key, "\(key) must be like \"\(standard)\", not \"\(text)\"")
            return nil
        }
        guard endpoint.isSecure || endpoint.isLoopback || insecure else {
            table.problem(
                at: key,
                "\(key) = \"\(text)\" would send the key unencrypted: use \(schemes[1])://, or set insecure_plaintext = true"
            )
            return nil
        }
        return endpoint
    }
}

extension Configuration.Switch {
    fileprivate init?(reading table: TableReader) {
        defer { table.finish() }
        let feed = table.feed("feed", default: "recording")
        let statusFeed = table.feed("status_feed", default: "recording-status")
        let topic = table.topic("topic")
        let statusTopic = table.topic("status_topic")
        let onStart: SwitchSettings.OnStart = table.word("on_start", default: .follow)
        let writeBack = table.flag("write_back", default: true)
        let onWords = table.strings("on_words") ?? []
        let offWords = table.strings("off_words") ?? []
        guard let feed, let statusFeed else { return nil }
        if feed == statusFeed {
            table.problem(at: "status_feed", "status_feed must be another feed than feed")
        }
        do {
            _ = try SwitchWords(on: onWords, off: offWords)
        } catch {
            table.problem(at: table.has("on_words") ? "on_words" : "off_words", "on_words and off_words: \(error)")
        }
        self.init(
            feed: feed,
            statusFeed: statusFeed,
            topic: topic,
            statusTopic: statusTopic,
            onStart: onStart,
            writeBack: writeBack,
            onWords: onWords,
            offWords: offWords
        )
    }
}

extension Configuration.Delivery {
    fileprivate init(reading table: TableReader) {
        self.init()
        share = table.part("share") ?? share
        fallbackAfter = table.duration("fallback_after") ?? fallbackAfter
        pollEvery = table.duration("poll_every") ?? pollEvery
        liveWithin = table.duration("live_within") ?? liveWithin
        settle = table.duration("settle") ?? settle
        backlogShare = table.part("backlog_share") ?? backlogShare
    }
}

extension TableReader {
    /// A number above 0 and at most 1.
    fileprivate func part(_ key: String) -> Double? {
        guard let part = number(key) else { return nil }
        guard part > 0, part <= 1 else {
            problem(at: key, "\(key) must be above 0 and at most 1, not \(part)")
            return nil
        }
        return part
    }
}

extension OutboxSettings {
    fileprivate init(reading table: TableReader) {
        defer { table.finish() }
        self.init()
        maxBytes = table.size("max_bytes") ?? maxBytes
        maxAge = table.duration("max_age") ?? maxAge
        whenFull = table.word("when_full", default: whenFull)
        durability = table.word("durability", default: durability)
        if maxBytes < 1_000_000 { table.problem(at: "max_bytes", "max_bytes must be at least \"1 MB\"") }
    }
}

extension Configuration.Recorder {
    fileprivate init(reading table: TableReader) {
        defer { table.finish() }
        self.init(
            longestSession: table.duration("longest_session") ?? .seconds(24 * 3600),
            smallestFree: table.size("smallest_free") ?? 500_000_000
        )
    }
}

extension Configuration.HTTP {
    fileprivate init(reading table: TableReader) {
        defer { table.finish() }
        self.init(
            listen: Self.address(table),
            tokenFile: table.string("token_file"),
            certificate: table.string("certificate"),
            certificateKey: table.string("certificate_key"),
            names: table.strings("names") ?? []
        )
    }

    private static func address(_ table: TableReader) -> Configuration.ListenAddress? {
        guard let text = table.string("listen") else { return nil }
        guard let endpoint = Endpoint("http://\(text)", schemes: ["http"]), text.contains(":") else {
            table.problem(
                at: "listen",
                "listen must be an address and a port such as \"127.0.0.1:8377\", not \"\(text)\""
            )
            return nil
        }
        return Configuration.ListenAddress(host: endpoint.host, port: endpoint.port)
    }
}

extension Configuration.Sampler {
    fileprivate init?(reading table: TableReader) {
        defer { table.finish() }
        let always = table.flag("always", default: false)
        let kinds =
            ["host", "iio", "image", "bluetooth", "sensor-proxy", "replay", "phyphox"] + PushConfiguration.kinds
        guard let kind = table.string("kind") else {
            table.problem(at: "kind", "kind is missing: one of \(kinds.map { "\"\($0)\"" }.joined(separator: ", "))")
            return nil
        }
        switch kind {
        case "host":
            let every = table.duration("every") ?? .seconds(2)
            self.init(position: table.position, always: always, kind: .host(every: every))
        case "iio":
            guard let iio = IIOConfiguration(reading: table) else { return nil }
            self.init(position: table.position, always: always, kind: .iio(iio))
        case "image":
            guard let image = ImageConfiguration(reading: table) else { return nil }
            self.init(position: table.position, always: always, kind: .image(image))
        case "replay":
            guard let replay = ReplayConfiguration(reading: table) else { return nil }
            self.init(position: table.position, always: always, kind: .replay(replay))
        case "bluetooth":
            guard let bluetooth = BluetoothConfiguration(reading: table) else { return nil }
            self.init(position: table.position, always: always, kind: .bluetooth(bluetooth))
        case "sensor-proxy":
            guard let sensors = table.proxySensors() else { return nil }
            self.init(position: table.position, always: always, kind: .sensorProxy(sensors))
        case "phyphox":
            guard let phyphox = PhyphoxConfiguration(reading: table) else { return nil }
            self.init(position: table.position, always: always, kind: .phyphox(phyphox))
        case let kind where PushConfiguration.kinds.contains(kind):
            guard let push = PushConfiguration(reading: table, kind: kind) else { return nil }
            self.init(position: table.position, always: always, kind: .push(push))
        default:
            let nearest = TOMLTable.nearest(to: kind, among: kinds).map { "; did you mean \"\($0)\"?" } ?? ""
            table.problem(
                at: "kind",
                "there is no sampler of kind \"\(kind)\": it is one of \(kinds.map { "\"\($0)\"" }.joined(separator: ", "))\(nearest)"
            )
            return nil
        }
    }
}

extension ReplayConfiguration {
    fileprivate init?(reading table: TableReader) {
        let stream = table.name("stream")
        if stream == nil, !table.has("stream") {
            table.problem(at: "stream", "stream is missing: what the file's rows are, such as \"accelerometer\"")
        }
        let file = table.string("file")
        if file?.isEmpty ?? !table.has("file") { table.problem(at: "file", "file is missing: the CSV file to replay") }
        var speed: ReplaySpeed? = .ownPace
        if let value = table.value("speed") {
            speed = value.number.flatMap(ReplaySpeed.init) ?? value.string.flatMap(ReplaySpeed.init)
            if speed == nil {
                table.problem(at: "speed", "speed must be a factor such as 2, or 0 or \"max\" for as fast as possible")
            }
        }
        let keepTime = table.flag("keep_time", default: false)
        guard let stream, let file, !file.isEmpty, let speed else { return nil }
        self.init(stream: stream, file: file, speed: speed, keepTime: keepTime)
    }
}

extension Configuration.Rule {
    fileprivate init?(reading table: TableReader) {
        defer { table.finish() }
        let fields = Self.fields(table)
        let isComposite = table.has("fields")
        let feed = table.feed("feed")
        let every = table.duration("every")
        if every == nil, !table.has("every") {
            table.problem(at: "every", "every is missing: how often to publish, such as every = \"10 s\"")
        }
        let reduction: Reduction = table.word("reduce", default: .last)
        let deadBand = table.number("dead_band")
        let onChange = table.flag("on_change", default: false)
        let precision = table.integer("precision", in: 0...15)
        let weight = table.number("weight") ?? 1
        let always = table.flag("always", default: false)
        let location = table.name("location")
        guard let fields, let feed, let every else { return nil }
        var rule = Feeds.Rule(composite: fields, feed: feed, every: every)
        rule.isComposite = isComposite
        rule.reduction = reduction
        rule.deadBand = deadBand
        rule.onChange = onChange
        rule.precision = precision
        rule.weight = weight
        rule.always = always
        rule.location = location
        var keys: [String: Configuration.Position] = [:]
        for entry in table.table.entries {
            let position = entry.value.position
            keys[entry.key] = Configuration.Position(line: position.line, column: position.column)
        }
        self.init(position: table.position, keys: keys, rule: rule)
    }

    private static func fields(_ table: TableReader) -> [FieldReference]? {
        let stream = table.name("stream")
        let field = table.name("field")
        if let texts = table.strings("fields") {
            if table.has("stream") || table.has("field") {
                table.problem(at: "fields", "a rule has either fields, or stream and field, not both")
            }
            let fields = texts.compactMap(FieldReference.init)
            guard fields.count == texts.count, !fields.isEmpty else {
                table.problem(
                    at: "fields",
                    "fields must be a list such as [\"accelerometer.x\", \"host.load.one_minute\"]"
                )
                return nil
            }
            return fields
        }
        guard let stream, let field else {
            for key in ["stream", "field"] where !table.has(key) {
                table.problem(at: key, "\(key) is missing: a rule needs stream and field, or fields")
            }
            return nil
        }
        return [FieldReference(stream: stream, field: field)]
    }
}

extension Configuration {
    /// Checks the rules against the streams that there are; problems carry the place in the file.
    func ruleProblems(streams: [Samples.Stream]?) -> [ConfigurationProblem] {
        let problems = Feeds.Rule.problems(
            of: rules.map(\.rule),
            device: name,
            streams: streams,
            othersMayCome: othersMayCome
        )
        return problems.map { problem in
            let rule = rules[problem.rule]
            let position = rule.keys[problem.key.rawValue] ?? rule.position
            return ConfigurationProblem(file: file, line: position.line, column: position.column, text: problem.text)
        }
    }
}
