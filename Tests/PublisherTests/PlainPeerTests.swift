import DataPoints
import Diagnostics
import MQTT
import Outbox
import Publisher
import TestKit
import Testing

/// A driver with an outbox of its own against a real mosquitto. Its clock stands still unless a test moves it, so nothing
/// is tried again before the recording subscriber is there.
private final class PlainPeer: Sendable {
    let broker: Broker
    let time = ManualTime()
    let folder = TemporaryDirectory()
    let outbox: OutboxStore
    let access: PublisherAccess
    let settings: PublisherSettings
    let driver: PublisherDriver
    let events = Guarded<[DeliveryEvent]>([])
    /// Topic and payload of each message, as the subscriber got them.
    private let recorded = Guarded<[(topic: String, text: String)]>([])
    private let recorder = Guarded<MQTTConnection?>(nil)
    private let tasks: Guarded<[Task<Void, Never>]>

    init(inFlight: Int = 2048, perMessage: Int = 1) async throws {
        let broker = try await Broker.start { $0.extraLines = ["max_queued_messages 0", "max_inflight_messages 0"] }
        self.broker = broker
        let outbox = try await OutboxStore.open(folder: folder.path)
        self.outbox = outbox
        var settings = PublisherSettings()
        settings.profile = .plain(inFlight: inFlight, pointsPerMessage: perMessage)
        var connection = MQTTConfiguration(host: "127.0.0.1", port: broker.port)
        connection.clientID = "plain-test"
        connection.inFlightWindow = 100
        self.settings = settings
        access = PublisherAccess(
            connection: connection,
            broker: PlainBroker(
                topics: try TopicTemplate("{name}/{feed}/value", name: "test"),
                switchTopic: "test-switch",
                statusTopic: "test-status",
                controlFeed: try #require(FeedKey("recording")),
                statusFeed: try #require(FeedKey("recording-status"))
            )
        )
        let driver = PublisherDriver(
            settings,
            access: access,
            outbox: outbox,
            memory: nil,
            time: time,
            log: .silent,
            keep: { _ in }
        )
        self.driver = driver
        tasks = Guarded([])
        try await record()
        let running: [Task<Void, Never>] = [
            Task { _ = try? await outbox.run() }, Task { await driver.run() },
            Task { [events] in for await event in driver.events { events.withLock { $0.append(event) } } },
        ]
        tasks.withLock { $0 = running }
        try await untilUp()
    }

    /// Subscribes to everything but the switch and its status.
    func record() async throws {
        let connection = try await MQTTConnection.connect(MQTTConfiguration(host: "127.0.0.1", port: broker.port))
        let subscription = try await connection.subscribe(to: "test/#", qos: .atLeastOnce, buffer: .all(upTo: 100_000))
        recorder.withLock { $0 = connection }
        let task = Task { [recorded] in
            for await message in subscription.messages {
                recorded.withLock { $0.append((message.topic, message.text)) }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    func untilUp() async throws {
        try await until("the link is up") { [driver] in await driver.status.link == .mqtt }
    }

    /// Numbers from `range` as points of the feeds, in turns.
    func append(_ range: Range<Int>, _ feeds: [FeedKey]) {
        outbox.append(
            range.map { number in
                let time = Timestamp(nanoseconds: 1_777_636_800_000_000_000 + Int64(number) * 1_000_000)
                return DataPoint(feed: feeds[number % feeds.count], value: "\(number)", createdAt: time)
            }
        )
    }

    var messages: [(topic: String, text: String)] { recorded.withLock { $0 } }

    /// The numbers that arrived on each topic, in order.
    var numbers: [String: [Int]] {
        var numbers: [String: [Int]] = [:]
        for (topic, text) in messages {
            let digits = text.dropFirst(#"{"value":"#.count).prefix { $0.isNumber }
            numbers[topic, default: []].append(Int(digits) ?? -1)
        }
        return numbers
    }

    func untilConfirmed(_ count: Int) async throws {
        try await until("\(count) points are confirmed", within: .seconds(60)) { [outbox] in
            outbox.statistics.total.confirmed >= count
        }
    }

    /// Every number is there, those of each feed in order when copies are left out, and the books balance.
    func expectAll(_ count: Int, copies most: Int, source: SourceLocation = #_sourceLocation) async throws {
        try await until("\(count) numbers are there") { [self] in
            Set(numbers.values.joined()).count == count
        }
        var copies = 0
        for numbers in numbers.values {
            var newest = -1
            var seen: Set<Int> = []
            for number in numbers {
                guard seen.insert(number).inserted else {
                    copies += 1
                    continue
                }
                #expect(number > newest, "in order", sourceLocation: source)
                newest = max(newest, number)
            }
        }
        #expect(copies <= most, sourceLocation: source)
        let counts = outbox.statistics.total
        #expect(counts.isBalanced, sourceLocation: source)
        #expect(counts.accepted == count && counts.confirmed == count, sourceLocation: source)
        #expect(await driver.status.doubt >= copies, sourceLocation: source)
    }

    func end() async throws {
        driver.stop()
        let running = tasks.withLock { $0 }
        await running[1].value
        for task in running { task.cancel() }
        await recorder.withLock { $0 }?.disconnect()
        try await outbox.close()
    }
}

@Suite("Publisher and a real mosquitto", .timeLimit(.minutes(3)))
struct PlainPeerTests {
    let feeds: [FeedKey]

    init() throws {
        feeds = try ["load", "wind", "weather.rain"].map { try #require(FeedKey($0)) }
    }

    @Test("killed with a full in-flight window, it gets all that it had not acknowledged again, in order")
    func killed() async throws {
        let peer = try await PlainPeer()
        peer.append(0..<600, feeds)
        try await peer.untilConfirmed(600)
        try await until("all were recorded") { peer.messages.count == 600 }

        peer.broker.freeze()
        peer.append(600..<4000, feeds)
        try await until("the window is full") { (peer.outbox.statistics.total.states[.sending] ?? 0) >= 2048 }
        // It forgets the session with all that was in it.
        try await peer.broker.stop()
        try await until("the link is down") { await peer.driver.status.link == nil }
        #expect(peer.outbox.statistics.total.confirmed == 600)
        try await peer.broker.restart()
        try await peer.record()
        peer.time.advance(by: .seconds(2))
        try await peer.untilConfirmed(4000)

        try await peer.expectAll(4000, copies: 0)
        #expect(await peer.driver.status.doubt <= 100, "only what the library had handed over may have arrived")
        try await peer.end()
    }

    @Test("frozen for a while, it gets everything once, and no new connection is made")
    func frozen() async throws {
        let peer = try await PlainPeer(inFlight: 200)
        peer.broker.freeze()
        peer.append(0..<1000, feeds)
        try await until("the window is full") { (peer.outbox.statistics.total.states[.sending] ?? 0) >= 200 }
        peer.time.advance(by: .seconds(25))
        peer.broker.thaw()
        try await peer.untilConfirmed(1000)

        try await peer.expectAll(1000, copies: 0)
        #expect(await peer.driver.status.doubt == 0)
        try await peer.end()
    }

    @Test("frozen for too long, it is left and found again: what came twice is counted")
    func frozenLong() async throws {
        let peer = try await PlainPeer(inFlight: 200)
        peer.append(0..<100, feeds)
        try await peer.untilConfirmed(100)
        peer.broker.freeze()
        peer.append(100..<1000, feeds)
        try await until("the window is full") { (peer.outbox.statistics.total.states[.sending] ?? 0) >= 200 }
        peer.time.advance(by: .seconds(31))
        // The goodbye finds nobody; its patience runs on the same clock.
        try await until("the link is down", within: .seconds(60)) {
            peer.time.advance(by: .milliseconds(200))
            return await peer.driver.status.link == nil
        }
        peer.broker.thaw()
        try await until("the link is up again", within: .seconds(60)) {
            peer.time.advance(by: .milliseconds(100))
            return await peer.driver.status.link == .mqtt
        }
        try await peer.untilConfirmed(1000)

        try await peer.expectAll(1000, copies: 200)
        try await peer.end()
    }

    @Test("a message says value, time and place as JSON")
    func payload() async throws {
        let peer = try await PlainPeer()
        let foreign = try await peer.broker.subscriber(["-t", "test/#", "-C", "6"])
        let time = Timestamp(nanoseconds: 1_777_636_800_250_999_999)
        let place = Location(latitude: 40.5, longitude: -3.25, elevation: 667)
        let points = [
            DataPoint(feed: feeds[0], value: "21.5", createdAt: time),
            DataPoint(feed: feeds[0], value: "-0.001", createdAt: time + .seconds(1), location: place),
            DataPoint(
                feed: feeds[2],
                value: "007",
                createdAt: Timestamp(nanoseconds: -1),
                location: Location(latitude: 1, longitude: 2)
            ),
            DataPoint(feed: feeds[2], value: "a \"b\" \\ c\u{1}é", createdAt: time),
            DataPoint(feed: feeds[2], value: #"{"value":{"x":1}}"#, createdAt: time),
            DataPoint(feed: feeds[2], value: #"{"value":"#, createdAt: time),
        ]
        peer.outbox.append(points)
        try await foreign.ended()

        let lines = foreign.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("test/") }
        #expect(
            lines.filter { $0.contains("load") } == [
                #"test/load/value {"value":21.5,"created_at":"2026-05-01T12:00:00.250Z"}"#,
                #"test/load/value {"value":-0.001,"created_at":"2026-05-01T12:00:01.250Z","lat":40.5,"lon":-3.25,"ele":667}"#,
            ]
        )
        #expect(
            lines.filter { $0.contains("rain") } == [
                #"test/weather.rain/value {"value":"007","created_at":"1969-12-31T23:59:59.999Z","lat":1,"lon":2}"#,
                #"test/weather.rain/value {"value":"a \"b\" \\ c\u0001é","created_at":"2026-05-01T12:00:00.250Z"}"#,
                #"test/weather.rain/value {"value":{"value":{"x":1}},"created_at":"2026-05-01T12:00:00.250Z"}"#,
                #"test/weather.rain/value {"value":"{\"value\":","created_at":"2026-05-01T12:00:00.250Z"}"#,
            ]
        )
        try await peer.end()
    }

    @Test("many points in one message are a list, in order, and one acknowledgement confirms all")
    func lists() async throws {
        let peer = try await PlainPeer(perMessage: 50)
        peer.append(0..<1000, [feeds[0]])
        try await peer.untilConfirmed(1000)
        try await until("all were recorded") {
            peer.messages.reduce(0) { $0 + $1.text.split(separator: "created_at").count - 1 } == 1000
        }

        #expect(peer.messages.allSatisfy { $0.text.hasPrefix("[{") && $0.text.hasSuffix("}]") })
        #expect(peer.messages.count <= 40)
        try await peer.end()
    }

    @Test("the switch is a retained message, which comes as such after each connection and as news later")
    func retainedSwitch() async throws {
        let peer = try await PlainPeer()
        @Sendable func values() -> [DeliveryEvent] {
            peer.events.withLock { $0 }.filter { if case .control = $0 { true } else { false } }
        }
        try await peer.broker.publish("ON", to: "test-switch", ["-r"])
        try await until("ON has come") { values() == [.control("ON", retained: false)] }
        // Nothing that the bridge itself says comes back as a word of the switch, nor does an emptied topic.
        peer.append(0..<10, feeds)
        try await peer.untilConfirmed(10)
        let status = try #require(FeedKey("recording-status"))
        #expect(await peer.driver.write("recording 1", to: status) == .published)
        try await peer.broker.publish("", to: "test-switch", ["-r"])
        try await peer.broker.publish("OFF", to: "test-switch", ["-r"])
        try await until("OFF has come") { values().count == 2 }
        #expect(values().last == .control("OFF", retained: false))

        await peer.driver.apply(peer.settings, access: peer.access, reconnect: true)
        try await until("OFF has come again") { values().count == 3 }
        #expect(values().last == .control("OFF", retained: true))
        let events = peer.events.withLock { $0 }
        #expect(events.last == .control("OFF", retained: true), "after the link that it belongs to")
        #expect(events.dropLast().last == .link(.mqtt))

        let kept = try await peer.broker.subscriber(["-t", "test-status", "-C", "1"])
        try await kept.ended()
        #expect(kept.output.contains("test-status recording 1"))
        try await peer.end()
        let goodbye = try await peer.broker.subscriber(["-t", "test-status", "-C", "1"])
        try await goodbye.ended()
        #expect(goodbye.output.contains("test-status offline"))
    }

    @Test("a template needs the feed, knows the name, and makes topics only")
    func templates() throws {
        let feed = try #require(FeedKey("weather.rain"))
        #expect(try TopicTemplate("a/{name}/{feed}", name: "n").topic(of: feed) == "a/n/weather.rain")
        #expect(try TopicTemplate("{feed}/x/{feed}", name: "n").topic(of: feed) == "weather.rain/x/weather.rain")
        #expect(throws: TopicTemplate.Failure.noFeed) { try TopicTemplate("a/{name}", name: "n") }
        #expect(throws: TopicTemplate.Failure.unknown("{stream}")) { try TopicTemplate("{stream}/{feed}", name: "n") }
        #expect(throws: TopicTemplate.Failure.unknown("{feed")) { try TopicTemplate("{feed}/{feed", name: "n") }
        for text in ["#/{feed}", "+/{feed}", "$SYS/{feed}", "\u{0}{feed}"] {
            #expect(throws: TopicTemplate.Failure.noTopic, "\(text)") { try TopicTemplate(text, name: "n") }
        }
    }
}
