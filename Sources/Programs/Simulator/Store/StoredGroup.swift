public import Diagnostics
internal import SQLite

/// A group as it is stored.
public struct StoredGroup: Sendable, Hashable {
    /// The key of the group that feeds are in when nothing else is said.
    public static let defaultKey = "default"

    /// Its number.
    public let id: Int64
    /// The key.
    public let key: String
    /// The name.
    public let name: String
    /// A sentence about it.
    public let description: String?
    /// `public` or `private`.
    public let visibility: String
    /// When it was made.
    public let createdAt: Timestamp
    /// When it was last changed.
    public let updatedAt: Timestamp

    static let select = "SELECT id, key, name, description, visibility, created_at, updated_at FROM groups"

    init(_ row: Statement) {
        id = row.integer(at: 0)
        key = row.text(at: 1) ?? ""
        name = row.text(at: 2) ?? ""
        description = row.text(at: 3)
        visibility = row.text(at: 4) ?? "private"
        createdAt = Timestamp(nanoseconds: row.integer(at: 5))
        updatedAt = Timestamp(nanoseconds: row.integer(at: 6))
    }
}
