internal import AdafruitIO
internal import AdafruitIOClient
internal import DataPoints
internal import Diagnostics

/// Makes feeds by REST, private and by their exact key, so that no typo ever makes one over MQTT.
struct FeedSetup {
    /// The account may not be asked now.
    struct NotNow: Error {}

    let calls: any AccountCalls
    let log: Log

    /// The feeds of `wanted` that the account does not have, each once.
    func missing(_ wanted: [FeedKey]) async throws -> [FeedKey] {
        let reply = try await calls.read { client throws(AdafruitIOClientError) in try await client.feeds() }
        guard let reply else { throw NotNow() }
        let there = Set(reply.value.map(\.key))
        var seen: Set<FeedKey> = []
        return wanted.filter { !Self.isThere($0, among: there) && seen.insert($0).inserted }
    }

    /// The groups of `feeds` that the account does not have.
    func missingGroups(of feeds: [FeedKey]) async throws -> [String] {
        let wanted = Set(feeds.compactMap(\.group))
        guard !wanted.isEmpty else { return [] }
        let there = try await groups().map(\.key)
        return wanted.subtracting(there).sorted()
    }

    func groups() async throws -> [AdafruitIOGroup] {
        let reply = try await calls.read { client throws(AdafruitIOClientError) in try await client.groups() }
        guard let reply else { throw NotNow() }
        return reply.value
    }

    /// A feed of the default group is known by its key with the group and without.
    private static func isThere(_ feed: FeedKey, among keys: Set<String>) -> Bool {
        if keys.contains(feed.text) { return true }
        return feed.group.map { $0 == "default" && keys.contains(feed.short) } ?? keys.contains("default.\(feed.short)")
    }

    /// Makes the feeds that are missing; returns those that the service will not make, each with a line in the log.
    func create(_ wanted: [FeedKey]) async throws -> Set<FeedKey> {
        var refused: Set<FeedKey> = []
        for feed in try await missing(wanted) {
            do {
                try await create(feed)
                log.info("made feed \(feed)")
            } catch let error as AdafruitIOClientError {
                guard error.refusal?.reason == .invalid || error.refusal?.reason == .forbidden else { throw error }
                log.error("feed \(feed) is missing and cannot be made, so its points wait: \(error)")
                refused.insert(feed)
            }
        }
        return refused
    }

    /// Makes one feed; its group, too, when that is missing.
    func create(_ feed: FeedKey) async throws {
        let settings = AdafruitIOFeedSettings(name: feed.short, key: feed.short, visibility: .private)
        do {
            try await make(settings, inGroup: feed.group)
        } catch let error as AdafruitIOClientError {
            guard let group = feed.group, error.refusal?.reason == .notFound else { throw error }
            let made = try await calls.administer { client throws(AdafruitIOClientError) in
                try await client.createGroup(group)
            }
            guard made != nil else { throw NotNow() }
            try await make(settings, inGroup: group)
        }
    }

    private func make(_ settings: AdafruitIOFeedSettings, inGroup group: String?) async throws {
        let made = try await calls.administer { client throws(AdafruitIOClientError) in
            try await client.createFeed(settings, inGroup: group)
        }
        guard made != nil else { throw NotNow() }
    }
}
