public import FastJSON

/// A feed that a block shows or writes.
public struct AdafruitIOBlockFeed: Sendable, Hashable {
    /// What the service takes as the feed's id: its number, its key, or `group.feed`.
    public var feed: String
    /// The group's number; nil means the default group.
    public var group: Int?

    /// Names a feed by its number or key.
    public init(_ feed: String, group: Int? = nil) {
        self.feed = feed
        self.group = group
    }

    var json: JSON {
        // Older servers took numbers only, and only as numbers.
        var members: JSONObject = ["feed_id": Int(feed).map { JSON($0) } ?? .string(feed)]
        members.set("group_id", group)
        return .object(members)
    }
}

/// A block of a dashboard.
public struct AdafruitIOBlock: Sendable, Hashable {
    /// The service's id of it.
    public var id: String
    /// Its title.
    public var name: String?
    /// What it is: `toggle_button`, `line_chart`.
    public var visualType: String
    /// Its settings; the service has them mostly as texts.
    public var properties: JSONObject
    /// The keys of its feeds.
    public var feedKeys: [String]

    init?(_ json: JSON) {
        guard let id = json.text("id"), let visualType = json.text("visual_type") else { return nil }
        self.id = id
        name = json.text("name")
        self.visualType = visualType
        properties = json["properties"]?.object ?? JSONObject()
        feedKeys = json["block_feeds"]?.array?.compactMap { $0["feed"]?.text("key") } ?? []
    }
}

/// What a block shall be; nil leaves it as it is, or to the service.
public struct AdafruitIOBlockSettings: Sendable, Hashable {
    /// What it is: `toggle_button`, `line_chart`; needed for a new one.
    public var visualType: String?
    /// Its title.
    public var name: String?
    /// What it is, in its owner's words.
    public var description: String?
    /// Its settings.
    public var properties: JSONObject?
    /// Its feeds; what is given replaces all.
    public var feeds: [AdafruitIOBlockFeed]?
    /// Columns from the left.
    public var column: Int?
    /// Rows from the top.
    public var row: Int?
    /// Columns wide.
    public var width: Int?
    /// Rows high.
    public var height: Int?

    /// Changes nothing but what is given.
    public init(
        visualType: String? = nil,
        name: String? = nil,
        properties: JSONObject? = nil,
        feeds: [AdafruitIOBlockFeed]? = nil
    ) {
        self.visualType = visualType
        self.name = name
        self.properties = properties
        self.feeds = feeds
    }

    var json: JSON {
        var members = JSONObject()
        members.set("name", name)
        members.set("description", description)
        members.set("visual_type", visualType)
        members.set("column", column)
        members.set("row", row)
        members.set("size_x", width)
        members.set("size_y", height)
        if let properties { members["properties"] = .object(properties) }
        if let feeds { members["block_feeds"] = .array(feeds.map(\.json)) }
        return ["block": .object(members)]
    }
}

// Blocks of dashboards.
extension AdafruitIOClient {
    /// All blocks of a dashboard.
    public func blocks(
        of dashboard: String
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<[AdafruitIOBlock]> {
        try await ask("GET", ["dashboards", dashboard, "blocks"]) { $0.list { AdafruitIOBlock($0) } }
    }

    /// Adds a block to a dashboard.
    public func createBlock(
        _ settings: AdafruitIOBlockSettings,
        in dashboard: String
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOBlock> {
        try await ask("POST", ["dashboards", dashboard, "blocks"], body: settings.json) { AdafruitIOBlock($0) }
    }

    /// Changes a block.
    @discardableResult
    public func updateBlock(
        _ id: String,
        in dashboard: String,
        _ settings: AdafruitIOBlockSettings
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOBlock> {
        try await ask("PUT", ["dashboards", dashboard, "blocks", id], body: settings.json) { AdafruitIOBlock($0) }
    }

    /// Removes a block.
    @discardableResult
    public func deleteBlock(
        _ id: String,
        in dashboard: String
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("DELETE", ["dashboards", dashboard, "blocks", id])
    }
}
