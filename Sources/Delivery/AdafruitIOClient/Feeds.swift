public import DataPoints
public import Diagnostics
internal import FastJSON

/// Who may see a feed or a dashboard.
public enum AdafruitIOVisibility: String, Sendable, Hashable {
    /// The account alone.
    case `private`
    /// Everybody.
    case `public`

    init?(_ json: JSON) {
        guard let text = json.text("visibility")?.lowercased() else { return nil }
        self.init(rawValue: text)
    }
}

/// A feed as the service has it.
public struct AdafruitIOFeed: Sendable, Hashable {
    /// The service's number of it.
    public var id: Int?
    /// Its key, `group.feed` outside the default group.
    public var key: String
    /// Its name.
    public var name: String
    /// What it is, in its owner's words.
    public var description: String?
    /// Who may see it.
    public var visibility: AdafruitIOVisibility?
    /// Whether it keeps more than the last value.
    public var keepsHistory: Bool?
    /// Its last value.
    public var lastValue: String?
    /// The unit of its values: `°C`.
    public var unitSymbol: String?
    /// When it was created.
    public var createdAt: Timestamp?
    /// When it was changed.
    public var updatedAt: Timestamp?
    /// The keys of the groups that it is in.
    public var groups: [String]

    init?(_ json: JSON) {
        guard let key = json.text("key"), let name = json.text("name") else { return nil }
        id = json.whole("id")
        self.key = key
        self.name = name
        description = json.text("description")
        visibility = AdafruitIOVisibility(json)
        keepsHistory = json.flag("history")
        lastValue = json.text("last_value")
        unitSymbol = json.text("unit_symbol")
        createdAt = json.time("created_at")
        updatedAt = json.time("updated_at")
        let all = json["groups"]?.array ?? []
        groups = (all.isEmpty ? [json["group"] ?? .null] : all).compactMap { $0.text("key") }
    }
}

/// A feed with what it holds.
public struct AdafruitIOFeedDetails: Sendable, Hashable {
    /// The feed.
    public var feed: AdafruitIOFeed
    /// How many data points it holds.
    public var count: Int?
    /// Its first data point.
    public var first: StoredPoint?
    /// Its last data point.
    public var last: StoredPoint?

    init?(_ json: JSON) {
        guard let feed = AdafruitIOFeed(json) else { return nil }
        let data = json["details"]?["data"]
        self.feed = feed
        count = data?.whole("count")
        first = data?["first"].flatMap { StoredPoint($0) }
        last = data?["last"].flatMap { StoredPoint($0) }
    }
}

/// What a feed shall be; nil leaves it as it is, or to the service.
public struct AdafruitIOFeedSettings: Sendable, Hashable {
    /// Its name: letters, digits, spaces, dashes and underscores.
    public var name: String?
    /// Its key within its group.
    public var key: String?
    /// What it is.
    public var description: String?
    /// Who may see it.
    public var visibility: AdafruitIOVisibility?
    /// Whether it keeps more than the last value.
    public var keepsHistory: Bool?
    /// The kind of its unit.
    public var unitType: String?
    /// The unit of its values.
    public var unitSymbol: String?
    /// The licence of its data.
    public var license: String?
    /// Whether the owner gets a message when no data comes.
    public var notifiesSilence: Bool?
    /// After how many minutes without data; the service's word is status timeout.
    public var silenceMinutes: Int?

    /// Changes nothing but what is given.
    public init(
        name: String? = nil,
        key: String? = nil,
        description: String? = nil,
        visibility: AdafruitIOVisibility? = nil,
        keepsHistory: Bool? = nil
    ) {
        self.name = name
        self.key = key
        self.description = description
        self.visibility = visibility
        self.keepsHistory = keepsHistory
    }

    var json: JSON {
        var members = JSONObject()
        members.set("name", name)
        members.set("key", key)
        members.set("description", description)
        members.set("visibility", visibility?.rawValue)
        members.set("history", keepsHistory)
        members.set("unit_type", unitType)
        members.set("unit_symbol", unitSymbol)
        members.set("license", license)
        members.set("status_notify", notifiesSilence)
        members.set("status_timeout", silenceMinutes)
        return ["feed": .object(members)]
    }
}

// Feeds. Creating, changing and deleting count against the account's rate.
extension AdafruitIOClient {
    /// All feeds, or those of a group.
    public func feeds(inGroup group: String? = nil) async throws(AdafruitIOClientError) -> AdafruitIOReply<
        [AdafruitIOFeed]
    > {
        let path = group.map { ["groups", $0, "feeds"] } ?? ["feeds"]
        return try await ask("GET", path) { $0.list { AdafruitIOFeed($0) } }
    }

    /// Creates a feed, in a group or in the default one.
    public func createFeed(
        _ settings: AdafruitIOFeedSettings,
        inGroup group: String? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOFeed> {
        let path = group.map { ["groups", $0, "feeds"] } ?? ["feeds"]
        return try await ask("POST", path, body: settings.json) { AdafruitIOFeed($0) }
    }

    /// A feed.
    public func feed(_ key: FeedKey) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOFeed> {
        try await ask("GET", ["feeds", key.text]) { AdafruitIOFeed($0) }
    }

    /// A feed with what it holds.
    public func details(
        of key: FeedKey
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOFeedDetails> {
        try await ask("GET", ["feeds", key.text, "details"]) { AdafruitIOFeedDetails($0) }
    }

    /// Changes a feed.
    @discardableResult
    public func updateFeed(
        _ key: FeedKey,
        _ settings: AdafruitIOFeedSettings
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOFeed> {
        try await ask("PUT", ["feeds", key.text], body: settings.json) { AdafruitIOFeed($0) }
    }

    /// Deletes a feed and everything in it.
    @discardableResult
    public func deleteFeed(_ key: FeedKey) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("DELETE", ["feeds", key.text])
    }
}
