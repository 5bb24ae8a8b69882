internal import FastJSON

/// A dashboard.
public struct AdafruitIODashboard: Sendable, Hashable {
    /// The service's number of it.
    public var id: Int?
    /// Its key.
    public var key: String
    /// Its name.
    public var name: String
    /// What it is, in its owner's words.
    public var description: String?
    /// Who may see it.
    public var visibility: AdafruitIOVisibility?
    /// Its blocks.
    public var blocks: [AdafruitIOBlock]
    /// Where the blocks are; nil in lists, which leave it out.
    public var layouts: AdafruitIOLayouts?

    init?(_ json: JSON) {
        guard let key = json.text("key"), let name = json.text("name") else { return nil }
        id = json.whole("id")
        self.key = key
        self.name = name
        description = json.text("description")
        visibility = AdafruitIOVisibility(json)
        blocks = json["blocks"]?.array?.compactMap { AdafruitIOBlock($0) } ?? []
        layouts = json["layouts"].flatMap { AdafruitIOLayouts($0) }
    }
}

/// What a dashboard shall be; nil leaves it as it is, or to the service.
public struct AdafruitIODashboardSettings: Sendable, Hashable {
    /// Its name, at most 128 characters.
    public var name: String?
    /// Its key.
    public var key: String?
    /// What it is.
    public var description: String?
    /// Who may see it.
    public var visibility: AdafruitIOVisibility?
    /// Whether its name and description stand above the blocks.
    public var showsHeader: Bool?
    /// `dark` or `light`.
    public var colorMode: String?
    /// Whether blocks have borders.
    public var hasBlockBorders: Bool?
    /// Whether blocks may lie over each other.
    public var allowsOverlap: Bool?

    /// Changes nothing but what is given.
    public init(
        name: String? = nil,
        key: String? = nil,
        description: String? = nil,
        visibility: AdafruitIOVisibility? = nil
    ) {
        self.name = name
        self.key = key
        self.description = description
        self.visibility = visibility
    }

    var json: JSON {
        var members = JSONObject()
        members.set("name", name)
        members.set("key", key)
        members.set("description", description)
        members.set("visibility", visibility?.rawValue)
        members.set("show_header", showsHeader)
        members.set("color_mode", colorMode)
        members.set("block_borders", hasBlockBorders)
        members.set("allow_overlap", allowsOverlap)
        return ["dashboard": .object(members)]
    }
}

/// Where the blocks of a dashboard are, for each width of screen.
public struct AdafruitIOLayouts: Sendable, Hashable {
    /// The widths that the service knows, from the widest.
    public static let widths = ["xl", "lg", "md", "sm", "xs"]

    /// The place of one block.
    public struct Place: Sendable, Hashable {
        /// The block's id.
        public var block: String
        /// Columns from the left.
        public var x: Int
        /// Rows from the top.
        public var y: Int
        /// Columns wide, at least 2.
        public var width: Int
        /// Rows high, at least 2.
        public var height: Int

        /// Makes a place.
        public init(block: String, x: Int, y: Int, width: Int, height: Int) {
            self.block = block
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        init?(_ json: JSON) {
            guard let block = json.text("i"), let x = json.whole("x"), let y = json.whole("y"),
                let width = json.whole("w"), let height = json.whole("h")
            else { return nil }
            self.init(block: block, x: x, y: y, width: width, height: height)
        }

        var json: JSON { ["i": .string(block), "x": JSON(x), "y": JSON(y), "w": JSON(width), "h": JSON(height)] }
    }

    /// The places for each width: `lg`, `md` and so on.
    public var places: [String: [Place]]

    /// Makes layouts.
    public init(_ places: [String: [Place]]) {
        self.places = places
    }

    init?(_ json: JSON) {
        guard let object = json.object else { return nil }
        places = [:]
        for (width, list) in object { places[width] = list.array?.compactMap { Place($0) } ?? [] }
    }

    var json: JSON {
        var members = JSONObject()
        for width in Self.widths + places.keys.sorted() where members[width] == nil {
            guard let list = places[width] else { continue }
            members[width] = .array(list.map(\.json))
        }
        return ["layouts": .object(members)]
    }
}

// Dashboards: first the dashboard, then its blocks, then their places; the service takes no two of these at once.
extension AdafruitIOClient {
    /// All dashboards.
    public func dashboards() async throws(AdafruitIOClientError) -> AdafruitIOReply<[AdafruitIODashboard]> {
        try await ask("GET", ["dashboards"]) { $0.list { AdafruitIODashboard($0) } }
    }

    /// A dashboard with its blocks and their places.
    public func dashboard(_ key: String) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIODashboard> {
        try await ask("GET", ["dashboards", key]) { AdafruitIODashboard($0) }
    }

    /// Creates a dashboard.
    public func createDashboard(
        _ settings: AdafruitIODashboardSettings
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIODashboard> {
        try await ask("POST", ["dashboards"], body: settings.json) { AdafruitIODashboard($0) }
    }

    /// Changes a dashboard.
    @discardableResult
    public func updateDashboard(
        _ key: String,
        _ settings: AdafruitIODashboardSettings
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIODashboard> {
        try await ask("PUT", ["dashboards", key], body: settings.json) { AdafruitIODashboard($0) }
    }

    /// Deletes a dashboard; its feeds stay.
    @discardableResult
    public func deleteDashboard(_ key: String) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("DELETE", ["dashboards", key])
    }

    /// Puts the blocks of a dashboard to their places.
    @discardableResult
    public func updateLayouts(
        of key: String,
        _ layouts: AdafruitIOLayouts
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("POST", ["dashboards", key, "update_layouts"], body: layouts.json)
    }
}
