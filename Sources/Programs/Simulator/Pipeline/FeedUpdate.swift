internal import AdafruitIO
internal import Diagnostics

/// A value that was stored, as subscribers learn it. The feed's group is the one that the value came through.
struct FeedUpdate: Sendable {
    var feed: StoredFeed
    var datum: StoredDatum

    func payload(_ form: PayloadForm, fullJSON: Bool) -> [UInt8] {
        let payload = FeedPayload(value: datum.value, location: datum.location)
        let text =
            form == .json && fullJSON
            ? payload.notice(key: feed.fullKey, createdAt: datum.createdAt) : payload.text(form: form)
        return Array(text.utf8)
    }

    /// Whether `identifier` names this feed, by key or by name, in this group and no other.
    func isNamed(_ identifier: FeedIdentifier) -> Bool {
        let group = identifier.group ?? StoredGroup.defaultKey
        return (group == feed.groupKey || group == feed.groupName)
            && (identifier.feed == feed.key || identifier.feed == feed.name)
    }
}

/// Values that came together, as subscribers of their group learn them.
struct GroupUpdate: Sendable {
    var key: String
    var name: String
    var payload: GroupPayload

    init?(_ updates: [FeedUpdate]) {
        guard let first = updates.first else { return nil }
        key = first.feed.groupKey
        name = first.feed.groupName
        payload = GroupPayload(
            entries: updates.map { GroupPayload.Entry(key: $0.feed.key, value: $0.datum.value) },
            location: updates.compactMap(\.datum.location).first
        )
    }
}
