public import Diagnostics
public import FastJSON
internal import SQLite

/// A dashboard as it is stored, without its blocks.
public struct StoredDashboard: Sendable {
    /// Its number.
    public let id: Int64
    /// The key.
    public let key: String
    /// The name.
    public let name: String
    /// The other members that a request may set: description, visibility, colours.
    public let settings: JSONObject
    /// Where the blocks are, for each width of screen.
    public let layouts: DashboardLayouts
    /// When it was made.
    public let createdAt: Timestamp
    /// When it was last changed.
    public let updatedAt: Timestamp

    static let select = "SELECT id, key, name, settings, layouts, created_at, updated_at FROM dashboards"

    init(_ row: Statement) {
        id = row.integer(at: 0)
        key = row.text(at: 1) ?? ""
        name = row.text(at: 2) ?? ""
        settings = JSONObject(stored: row.text(at: 3))
        layouts = DashboardLayouts(JSON.object(JSONObject(stored: row.text(at: 4))))
        createdAt = Timestamp(nanoseconds: row.integer(at: 5))
        updatedAt = Timestamp(nanoseconds: row.integer(at: 6))
    }
}

/// A block of a dashboard as it is stored.
public struct StoredBlock: Sendable {
    /// A feed that a block shows or writes.
    public struct Wire: Sendable {
        /// The number of the connection.
        public let id: Int64
        /// The feed, seen through the group that the request named.
        public let feed: StoredFeed
    }

    /// Its number.
    public let id: Int64
    /// What kind it is: `toggle_button`, `line_chart`.
    public let visualType: String
    /// The name.
    public let name: String?
    /// The other members that a request may set: description, properties, sizes.
    public let settings: JSONObject
    /// The feeds that it shows or writes, in order.
    public let wires: [Wire]
    /// When it was made.
    public let createdAt: Timestamp
    /// When it was last changed.
    public let updatedAt: Timestamp
}

extension JSONObject {
    /// An object from a column; empty when it holds none.
    init(stored text: String?) {
        guard let text, let object = try? JSON.parse(text).object else {
            self.init()
            return
        }
        self = object
    }

    /// The text for a column.
    var stored: String { JSON.object(self).serialized() }
}
