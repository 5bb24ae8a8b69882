internal import AdafruitIO
internal import AdafruitIOClient
internal import Control
internal import DataPoints
internal import Diagnostics
internal import Publisher

/// The account over REST while the bridge runs: makes the feeds that are missing, reads the control feed.
///
/// Every request goes through the publisher, which knows what the account may still do.
struct AccountAccess: ControlFeedReader {
    let delivery: PublisherDriver
    let time: any TimeSource
    let log: Log

    /// Makes the feeds that are missing; tries until it worked or the task is cancelled.
    ///
    /// Points for a feed wait until it is there, so that MQTT never creates one. `ready` gets what is there; while the
    /// service cannot be reached over REST at all, points go to feeds that are not known to be missing.
    func prepare(feeds: [FeedKey], ready: @Sendable ([FeedKey]) -> Void) async {
        var pause = Duration.seconds(10)
        while !Task.isCancelled {
            var wait = pause
            do {
                let refused = try await FeedSetup(calls: delivery, log: log).create(feeds)
                ready(feeds.filter { !refused.contains($0) })
                guard !refused.isEmpty else { return }
                wait = .seconds(900)
            } catch is FeedSetup.NotNow {
                wait = .milliseconds(500)
            } catch let error as AdafruitIOClientError {
                switch error {
                case .network: ready(feeds)
                default: break
                }
                wait = error.refusal?.reason == .keyRefused ? .seconds(15 * 60) : error.refusal?.wait ?? pause
                log.warning("REST: \(error) Next try in \(Int(max(wait, pause).inSeconds)) s")
                pause = min(pause * 2, .seconds(300))
                wait = max(wait, pause)
            } catch {
                log.warning("the feeds cannot be made: \(error)")
            }
            try? await time.sleep(for: wait)
        }
    }

    func lastValue(of feed: FeedKey, read: Int) async -> SwitchEvent {
        do throws(AdafruitIOClientError) {
            let reply = try await delivery.read { client throws(AdafruitIOClientError) in
                try await client.lastPoint(in: feed)
            }
            guard let reply else { return .readFailed(read: read) }
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
