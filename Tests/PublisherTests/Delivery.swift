import AdafruitIO
import AdafruitIOClient
import DataPoints
import Diagnostics
import MQTT
import Outbox
import Publisher
import SQLite
import Simulator
import TestKit
import Testing

extension PublisherSettings {
    /// As soon as MQTT is down, REST takes over.
    mutating func fallBackSoon() { fallbackAfter = .seconds(5) }

    /// REST never takes over: what can go by MQTT does, however slow this machine is.
    mutating func waitForMQTT() { fallbackAfter = .seconds(1_000_000) }
}

/// The key of a feed.
func feed(_ text: String) -> FeedKey {
    guard let key = FeedKey(text) else { preconditionFailure("\(text) is no key of a feed") }
    return key
}

/// An outbox and a publisher's driver in this process, with a service that a test chooses.
///
/// Not Sendable: one test uses it.
final class Delivery {
    static let feeds = ["load", "door", "heat", "wind", "rain"].map(feed)

    let time: any TimeSource
    let folder = TemporaryDirectory()
    var settings = PublisherSettings()
    var access: PublisherAccess
    private(set) var outbox: OutboxStore
    private(set) var driver: PublisherDriver
    /// What the driver had kept last.
    let memory: Guarded<PublisherMemory?>
    let talk = Guarded<[String]>([])
    private var running: Task<Void, Never>?
    private var keeping: Task<Void, any Error>?
    private var nextValue = 1

    init(
        mqttPort: Int,
        httpPort: Int,
        feeds: [FeedKey] = Delivery.feeds,
        time: any TimeSource = SystemTime(),
        clientID: String = "bridge",
        _ change: (inout PublisherSettings) -> Void = { _ in }
    ) async throws {
        self.time = time
        var connection = MQTTConfiguration(host: "127.0.0.1", port: mqttPort)
        connection.username = "ada"
        connection.password = Secret("key")
        connection.clientID = clientID
        // Time may pass fast, and this machine may be busy: seconds, however fast.
        connection.keepAlive = .seconds(300)
        connection.connectTimeout = .seconds(300)
        var rest = AdafruitIOClientConfiguration()
        rest.service = "http://127.0.0.1:\(httpPort)"
        let client = try AdafruitIOClient(username: "ada", key: Secret("key"), rest)
        access = PublisherAccess(
            connection: connection,
            username: "ada",
            controlFeed: feed("recording"),
            client: client
        )
        settings.plan = 100_000
        // What is to go by MQTT goes by MQTT, however long it takes.
        settings.liveWithin = .seconds(100_000)
        settings.rules = feeds.map { RuleDemand(feed: $0, interval: .seconds(60)) }
        change(&settings)
        memory = Guarded(nil)
        outbox = try await Delivery.open(folder, time)
        driver = Delivery.driver(settings, access, outbox, memory, time, talk)
    }

    private static func open(_ folder: TemporaryDirectory, _ time: any TimeSource) async throws -> OutboxStore {
        var settings = OutboxSettings()
        settings.durability = .normal
        return try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
    }

    private static func driver(
        _ settings: PublisherSettings,
        _ access: PublisherAccess,
        _ outbox: OutboxStore,
        _ memory: Guarded<PublisherMemory?>,
        _ time: any TimeSource,
        _ talk: Guarded<[String]>
    ) -> PublisherDriver {
        PublisherDriver(
            settings,
            access: access,
            outbox: outbox,
            memory: memory.withLock { $0 },
            time: time,
            log: Log(program: "test", least: .debug) { line in talk.withLock { $0.append(line) } }
        ) { kept in memory.withLock { $0 = kept } }
    }

    // MARK: Lives

    func start() {
        running = Task { [driver] in await driver.run() }
        keeping = Task { [outbox] in try await outbox.run() }
    }

    /// Starts, and returns when what comes from then on is new, and so live.
    func begin() async throws {
        start()
        try await until("the driver has begun") { [memory] in memory.withLock { $0 } != nil }
    }

    /// Ends the driver as the bridge does.
    func stop() async {
        driver.stop()
        await running?.value
        running = nil
    }

    /// Ends the driver and the outbox, and begins both anew with what they have kept.
    func restart() async throws {
        await end()
        outbox = try await Delivery.open(folder, time)
        driver = Delivery.driver(settings, access, outbox, memory, time, talk)
        start()
    }

    /// Ends everything.
    func end() async {
        await stop()
        keeping?.cancel()
        _ = try? await keeping?.value
        keeping = nil
        try? await outbox.close()
    }

    // MARK: Points

    /// Puts so many points into the outbox, over its feeds in turn, no two alike; says their values by feed.
    @discardableResult
    func append(_ count: Int) -> [FeedKey: [String]] {
        var values: [FeedKey: [String]] = [:]
        for _ in 0..<count {
            let feed = settings.rules[nextValue % settings.rules.count].feed
            append("\(nextValue)", to: feed)
            values[feed, default: []].append("\(nextValue)")
            nextValue += 1
        }
        return values
    }

    func append(_ text: String, to feed: FeedKey) {
        outbox.append([DataPoint(feed: feed, value: text, createdAt: time.wall())])
    }

    var counts: OutboxCounts { outbox.statistics.total }

    /// Waits until every point has left the outbox.
    func untilDelivered(_ what: String = "") async throws {
        try await until("every point has left \(what)") { [outbox] in
            let counts = outbox.statistics.total
            return counts.accepted > 0 && counts.pending == 0
        }
    }

    func untilUp() async throws {
        try await until("MQTT is up") { [driver] in await driver.status.link == .mqtt }
    }
}

/// Something did not happen.
struct Impatience: Error {
    var what: String
}

/// A simulator in this process whose account `ada` has the key `key`, a proxy before each door, and a delivery.
final class SimulatedDelivery {
    let simulator: AdafruitIOSimulator
    let mqtt: FaultProxy
    let rest: FaultProxy
    let delivery: Delivery

    /// All parts share a time that is `factor` times as fast as the machine's.
    init(
        factor: Int = 30,
        plan: Int = 100_000,
        serviceTime: (any TimeSource)? = nil,
        mqttPort: Int? = nil,
        feeds: [FeedKey] = Delivery.feeds,
        options: SimulatorOptions = SimulatorOptions(),
        _ change: (inout PublisherSettings) -> Void = { _ in }
    ) async throws {
        let time = FastTime(factor: factor)
        var configuration = SimulatorConfiguration(
            accounts: [
                SimulatedAccount(name: "ada", key: Secret("key"), plan: .custom(pointsPerMinute: plan))
            ]
        )
        configuration.mqttPort = 0
        configuration.httpPort = 0
        configuration.options = options
        configuration.time = serviceTime ?? time
        simulator = try AdafruitIOSimulator(configuration)
        mqtt = FaultProxy(to: simulator.mqttPort)
        rest = FaultProxy(to: simulator.httpPort)
        delivery = try await Delivery(mqttPort: mqttPort ?? mqtt.port, httpPort: rest.port, feeds: feeds, time: time) {
            settings in
            settings.plan = plan
            // Two seconds of this machine's: it may be busy.
            settings.settle = .seconds(2 * factor)
            // REST takes over in two seconds of this machine's, unless a test wants it sooner, or never.
            settings.fallbackAfter = .seconds(2 * factor)
            change(&settings)
        }
        for feed in feeds { try await makeFeed(feed) }
    }

    func makeFeed(_ feed: FeedKey) async throws {
        let web = try AdafruitIOClient(username: "ada", key: Secret("key"), address)
        _ = try await web.createFeed(AdafruitIOFeedSettings(name: feed.text))
    }

    var counters: AccountCounters? { simulator.service.counters["ada"] }

    func inject(_ fault: String) async throws { await simulator.service.inject(try Fault(fault)) }

    /// The values that stand on the service, by feed, the oldest first.
    func stored() async throws -> [FeedKey: [String]] {
        let web = try AdafruitIOClient(username: "ada", key: Secret("key"), address)
        var stored: [FeedKey: [String]] = [:]
        for rule in delivery.settings.rules {
            let points = try await web.points(in: rule.feed, PointQuery(limit: 1000)).value.points
            stored[rule.feed] = points.map(\.value).reversed()
        }
        return stored
    }

    private var address: AdafruitIOClientConfiguration {
        var address = AdafruitIOClientConfiguration()
        address.service = "http://127.0.0.1:\(simulator.httpPort)"
        // A test that looks is in no hurry: on a busy machine an answer may take long.
        (address.connectTimeout, address.timeout, address.stallTimeout) = (.seconds(240), .seconds(240), .seconds(240))
        return address
    }

    /// Waits until the outbox is empty and checks the books; says how many points stand there twice.
    ///
    /// Every point that the outbox has accepted is on the service, as often as the doubt says at most, and in the end
    /// accepted = confirmed, with nothing refused, evicted or pending.
    @discardableResult
    func close(_ what: String, source: SourceLocation = #_sourceLocation) async throws -> Int {
        try await delivery.untilDelivered(what)
        let counts = delivery.counts
        #expect(
            counts.accepted == counts.confirmed + counts.refused + counts.evicted + counts.pending,
            "\(what)",
            sourceLocation: source
        )
        #expect(counts.accepted == counts.confirmed && counts.pending == 0, "\(what)", sourceLocation: source)
        // Nothing waits, so nothing is counted as waiting.
        try await until("the publisher knows it: \(what)") { [driver = delivery.driver] in
            await driver.status.backlog == 0
        }
        var doubles = 0
        // A second copy may just be on its way to be found and deleted.
        try await untilIt("no point stands twice without being counted: \(what)") {
            let there = try await stored().values.joined()
            doubles = there.count - Set(there).count
            return doubles <= max(await delivery.driver.status.doubt, delivery.counts.doubt)
        }
        let there = try await stored()
        #expect(Set(there.values.joined()).count == counts.accepted, "\(what): all are there", sourceLocation: source)
        return doubles
    }

    func end() async {
        await delivery.end()
        await simulator.stop()
    }

    private func untilIt(_ what: String, _ condition: () async throws -> Bool) async throws {
        let start = ContinuousClock.now
        while try await !condition() {
            guard start.duration(to: .now) < .seconds(60) else {
                throw Impatience(what: what)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
