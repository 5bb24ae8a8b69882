public import DataPoints
internal import FastJSON

/// A group of feeds.
public struct AdafruitIOGroup: Sendable, Hashable {
    /// The service's number of it.
    public var id: Int?
    /// Its key.
    public var key: String
    /// Its name.
    public var name: String
    /// What it is, in its owner's words.
    public var description: String?
    /// Its feeds; their keys begin with the group's.
    public var feeds: [AdafruitIOFeed]

    init?(_ json: JSON) {
        guard let key = json.text("key"), let name = json.text("name") else { return nil }
        id = json.whole("id")
        self.key = key
        self.name = name
        description = json.text("description")
        feeds = json["feeds"]?.array?.compactMap { AdafruitIOFeed($0) } ?? []
    }
}

// Groups. Creating, changing and deleting count against the account's rate.
extension AdafruitIOClient {
    /// All groups.
    public func groups() async throws(AdafruitIOClientError) -> AdafruitIOReply<[AdafruitIOGroup]> {
        try await ask("GET", ["groups"]) { $0.list { AdafruitIOGroup($0) } }
    }

    /// A group with its feeds.
    public func group(_ key: String) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOGroup> {
        try await ask("GET", ["groups", key]) { AdafruitIOGroup($0) }
    }

    /// Creates a group.
    public func createGroup(
        _ name: String,
        description: String? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOGroup> {
        try await ask("POST", ["groups"], body: body(name, description)) { AdafruitIOGroup($0) }
    }

    /// Changes a group's name or description.
    @discardableResult
    public func updateGroup(
        _ key: String,
        name: String? = nil,
        description: String? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOGroup> {
        try await ask("PUT", ["groups", key], body: body(name, description)) { AdafruitIOGroup($0) }
    }

    /// Deletes a group.
    @discardableResult
    public func deleteGroup(_ key: String) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("DELETE", ["groups", key])
    }

    /// Puts a feed into a group.
    public func add(
        _ feed: FeedKey,
        toGroup group: String
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOGroup> {
        try await ask("POST", ["groups", group, "add"], query: [("feed_key", feed.text)]) { AdafruitIOGroup($0) }
    }

    /// Takes a feed out of a group.
    public func remove(
        _ feed: FeedKey,
        fromGroup group: String
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOGroup> {
        try await ask("POST", ["groups", group, "remove"], query: [("feed_key", feed.text)]) { AdafruitIOGroup($0) }
    }

    private func body(_ name: String?, _ description: String?) -> JSON {
        var members = JSONObject()
        members.set("name", name)
        members.set("description", description)
        return ["group": .object(members)]
    }
}
