internal import AdafruitIO
internal import AdafruitIOClient
internal import DataPoints
internal import Diagnostics

/// Makes feeds by REST, private and by their exact key, so that no typo ever makes one over MQTT.
struct FeedSetup {
    let client: AdafruitIOClient
    let log: Log

    /// The feeds of `wanted` that the account does not have, each once.
    func missing(_ wanted: [FeedKey]) async throws(AdafruitIOClientError) -> [FeedKey] {
        let there = Set(try await client.feeds().value.map(\.key))
        var seen: Set<FeedKey> = []
        return wanted.filter {
            !there.contains($0.text) && !there.contains("default.\($0.text)") && seen.insert($0).inserted
        }
    }

    /// Makes the feeds that are missing; returns those that the service will not make, each with a line in the log.
    func create(_ wanted: [FeedKey]) async throws(AdafruitIOClientError) -> Set<FeedKey> {
        var refused: Set<FeedKey> = []
        for feed in try await missing(wanted) {
            do {
                try await create(feed)
                log.info("made feed \(feed)")
            } catch {
                guard error.refusal?.reason == .invalid || error.refusal?.reason == .forbidden else { throw error }
                log.error("feed \(feed) is missing and cannot be made, so nothing is published to it: \(error)")
                refused.insert(feed)
            }
        }
        return refused
    }

    /// Makes one feed; its group, too, when that is missing.
    func create(_ feed: FeedKey) async throws(AdafruitIOClientError) {
        let settings = AdafruitIOFeedSettings(name: feed.short, key: feed.short, visibility: .private)
        do {
            _ = try await client.createFeed(settings, inGroup: feed.group)
        } catch {
            guard let group = feed.group, error.refusal?.reason == .notFound else { throw error }
            _ = try await client.createGroup(group)
            _ = try await client.createFeed(settings, inGroup: group)
        }
    }
}
