internal import AdafruitIO
internal import AdafruitIOClient
internal import Control
internal import DataPoints
internal import Diagnostics

/// The account over REST while the bridge runs: makes the feeds that are missing, learns the plan, reads the control feed.
final class AccountAccess: ControlFeedReader {
    private let client: Guarded<AdafruitIOClient>
    private let time: any TimeSource
    private let log: Log

    init(_ configuration: Configuration, key: Secret, time: any TimeSource, log: Log) throws(AdafruitIOClientError) {
        client = Guarded(try AdafruitIOClient(configuration, key: key))
        self.time = time
        self.log = log
    }

    /// Takes a changed configuration.
    func apply(_ configuration: Configuration, key: Secret) throws(AdafruitIOClientError) {
        let new = try AdafruitIOClient(configuration, key: key)
        let old = client.withLock { client in
            let old = client
            client = new
            return old
        }
        old.close()
    }

    func close() {
        client.withLock { $0 }.close()
    }

    /// Makes the feeds that are missing and learns the plan; tries until it worked or the task is cancelled.
    ///
    /// - Parameters:
    ///   - learned: gets the points a minute, when the plan is to be asked for, and those that the last minute has had.
    ///   - blocked: gets the feeds that the service will not make: publishing to them would count as failed publishes.
    ///   - attempted: is called once, after the first try, whatever came of it.
    func prepare(
        feeds: [FeedKey],
        plan: Configuration.Account.Plan,
        learned: @Sendable (_ pointsPerMinute: Int?, _ used: Int) -> Void,
        blocked: @Sendable (Set<FeedKey>) -> Void,
        attempted: @Sendable () -> Void
    ) async {
        var pause = Duration.seconds(10)
        var isFirst = true
        while !Task.isCancelled {
            let client = client.withLock { $0 }
            var wait: Duration?
            do {
                let refused = try await FeedSetup(client: client, log: log).create(feeds)
                guard !Task.isCancelled else { return }
                blocked(refused)
                // Last, since making feeds costs points, too.
                let throttle = try await client.throttle().value
                guard !Task.isCancelled else { return }
                learned(plan == .auto ? throttle.pointsPerMinute : nil, throttle.points)
            } catch {
                // Changed settings: another attempt has begun.
                guard !Task.isCancelled else { return }
                wait = error.refusal?.reason == .keyRefused ? .seconds(15 * 60) : error.refusal?.wait ?? pause
                log.warning("REST: \(error) Next try in \(Int(max(wait ?? pause, pause).inSeconds)) s")
            }
            if isFirst { attempted() }
            isFirst = false
            guard let wait else { return }
            try? await time.sleep(for: max(wait, pause))
            pause = min(pause * 2, .seconds(300))
        }
    }

    func lastValue(of feed: FeedKey, read: Int) async -> SwitchEvent {
        let client = client.withLock { $0 }
        do {
            let reply = try await client.lastPoint(in: feed)
            let offset = reply.date.map { $0 - time.wall() }
            return .last(reply.value.value, createdAt: reply.value.createdAt, clockOffset: offset, read: read)
        } catch {
            if error.refusal?.reason == .notFound { return .empty(read: read) }
            log.debug("cannot read feed \(feed): \(error)")
            return .readFailed(read: read)
        }
    }
}

extension AdafruitIOClient {
    /// A client for the account of the configuration.
    convenience init(_ configuration: Configuration, key: Secret) throws(AdafruitIOClientError) {
        var settings = AdafruitIOClientConfiguration()
        settings.service = configuration.account.rest.description
        settings.caFile = configuration.account.caFile
        settings.insecurePlaintext = configuration.account.insecurePlaintext
        try self.init(username: configuration.account.username, key: key, settings)
    }
}
