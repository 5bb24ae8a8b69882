public import Diagnostics
internal import SQLite

/// A feed as it is stored, seen through one of the groups that hold it.
public struct StoredFeed: Sendable, Hashable {
    /// Its number.
    public let id: Int64
    /// The key within the group.
    public let key: String
    /// The name.
    public let name: String
    /// The group that it was found in.
    public let groupID: Int64
    /// That group's key.
    public let groupKey: String
    /// That group's name.
    public let groupName: String
    /// A sentence about it.
    public let description: String?
    /// Its licence.
    public let license: String?
    /// Whether it keeps more than the newest value.
    public let history: Bool
    /// `public` or `private`.
    public let visibility: String
    /// The kind of its unit.
    public let unitType: String?
    /// The sign of its unit.
    public let unitSymbol: String?
    /// Whether its silence is to be reported.
    public let statusNotify: Bool
    /// Minutes of silence after which it counts as offline.
    public let statusTimeout: Int
    /// The text of its last value.
    public let lastValue: String?
    /// The time of its last value.
    public let lastAt: Timestamp?
    /// When it was made.
    public let createdAt: Timestamp
    /// When it was last changed or written to.
    public let updatedAt: Timestamp

    /// `group.feed`, or the bare key in the default group.
    public var fullKey: String { groupKey == StoredGroup.defaultKey ? key : "\(groupKey).\(key)" }

    static let select = """
        SELECT f.id, m.key, f.name, g.id, g.key, g.name, f.description, f.license, f.history, f.visibility, f.unit_type,
            f.unit_symbol, f.status_notify, f.status_timeout, d.value, d.created_at, f.created_at, f.updated_at
        FROM feeds f JOIN memberships m ON m.feed = f.id JOIN groups g ON g.id = m."group"
            LEFT JOIN data d ON d.sequence = f.last
        """

    init(_ row: Statement) {
        id = row.integer(at: 0)
        key = row.text(at: 1) ?? ""
        name = row.text(at: 2) ?? ""
        groupID = row.integer(at: 3)
        groupKey = row.text(at: 4) ?? ""
        groupName = row.text(at: 5) ?? ""
        description = row.text(at: 6)
        license = row.text(at: 7)
        history = row.integer(at: 8) != 0
        visibility = row.text(at: 9) ?? "private"
        unitType = row.text(at: 10)
        unitSymbol = row.text(at: 11)
        statusNotify = row.integer(at: 12) != 0
        statusTimeout = Int(row.integer(at: 13))
        lastValue = row.text(at: 14)
        lastAt = row.isNull(at: 15) ? nil : Timestamp(nanoseconds: row.integer(at: 15))
        createdAt = Timestamp(nanoseconds: row.integer(at: 16))
        updatedAt = Timestamp(nanoseconds: row.integer(at: 17))
    }
}

/// What of a feed a request sets; nil leaves a member as it is.
public struct FeedChange: Sendable {
    /// The name.
    public var name: String?
    /// The key within the group.
    public var key: String?
    /// A sentence about it.
    public var description: String?
    /// Its licence.
    public var license: String?
    /// Whether it keeps more than the newest value.
    public var history: Bool?
    /// `public` or `private`.
    public var visibility: String?
    /// The kind of its unit.
    public var unitType: String?
    /// The sign of its unit.
    public var unitSymbol: String?
    /// Whether its silence is to be reported.
    public var statusNotify: Bool?
    /// Minutes of silence after which it counts as offline.
    public var statusTimeout: Int?

    /// Changes nothing but what is then set.
    public init(name: String? = nil) {
        self.name = name
    }
}
