internal import DataPoints
internal import Diagnostics
internal import MQTT
internal import Outbox
internal import Publisher
internal import SQLite

/// The whole way of a data point to a plain broker: outbox, publisher, PUBACK, and out of the outbox again.
///
/// `--port` the broker, `--folder` where the outbox is, `--count` points of `--feeds` feeds, `--durability full|normal`,
/// `--per-message` points in a message. It prints how long that took from the first point to the last confirmation.
func benchmarkDelivery(_ options: Options) async throws {
    let count = try options.number("count", 60_000)
    let feeds = (0..<max(1, try options.number("feeds", 4))).compactMap { FeedKey("feed-\($0)") }
    guard let durability = SQLiteConnection.Durability(rawValue: options.text("durability", "full")),
        let controlFeed = FeedKey("recording"), let statusFeed = FeedKey("recording-status")
    else { throw BenchmarkError("--durability is full or normal") }
    var storage = OutboxSettings()
    storage.durability = durability
    let outbox = try await OutboxStore.open(folder: options.text("folder", "."), settings: storage)
    var settings = PublisherSettings()
    settings.profile = .plain(
        inFlight: try options.number("prepared", 2048),
        pointsPerMessage: try options.number("per-message", 1)
    )
    var connection = MQTTConfiguration(host: "127.0.0.1", port: try options.number("port"))
    connection.inFlightWindow = try options.number("window", 100)
    let broker = PlainBroker(
        topics: try TopicTemplate("benchmark/{feed}", name: "benchmark"),
        switchTopic: "benchmark-switch",
        statusTopic: "benchmark-status",
        controlFeed: controlFeed,
        statusFeed: statusFeed
    )
    let delivery = PublisherDriver(
        settings,
        access: PublisherAccess(connection: connection, broker: broker),
        outbox: outbox,
        memory: nil,
        time: SystemTime(),
        log: .silent,
        keep: { _ in }
    )
    let keeping = Task { try await outbox.run() }
    let delivering = Task { await delivery.run() }
    while await delivery.status.link == nil { try await Task.sleep(for: .milliseconds(2)) }

    let start = ContinuousClock.now
    var made = 0
    while outbox.statistics.total.confirmed < count {
        // As fast as the buffer in front of the disk allows.
        while made < count, made - outbox.statistics.total.confirmed < 20_000 {
            let end = min(made + 500, count)
            let now = SystemTime().wall()
            outbox.append(
                (made..<end).map { DataPoint(feed: feeds[$0 % feeds.count], value: "\($0)", createdAt: now) }
            )
            made = end
        }
        try await Task.sleep(for: .milliseconds(1))
    }
    let elapsed = ContinuousClock.now - start
    delivery.stop()
    await delivering.value
    keeping.cancel()
    _ = try? await keeping.value
    let counts = outbox.statistics.total
    try await outbox.close()

    let seconds = elapsed.inSeconds
    print(
        #"{"benchmark":"delivery","count":\#(count),"confirmed":\#(counts.confirmed),"doubt":\#(counts.doubt),"#
            + #""balanced":\#(counts.isBalanced),"seconds":\#(seconds),"rate":\#(Int(Double(count) / seconds))}"#
    )
}
