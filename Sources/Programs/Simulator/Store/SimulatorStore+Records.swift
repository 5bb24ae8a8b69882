public import Diagnostics
public import FastJSON
internal import SQLite

/// Something that somebody did on an account.
public struct StoredActivity: Sendable {
    /// Its number.
    public let id: Int64
    /// `create`, `update`, `destroy`.
    public let action: String
    /// `Feed`, `Group`, `Dashboard`, `Data`.
    public let model: String
    /// What it was about, as JSON text.
    public let data: String
    /// When.
    public let createdAt: Timestamp
}

/// A record whose members the store does not look at: a token, an action, a permission.
public struct StoredRecord: Sendable {
    /// Its number.
    public let id: Int64
    /// The account.
    public let account: String
    /// What it belongs to: `feeds/temperature`; empty for the account itself.
    public let parent: String
    /// The secret of a token.
    public let key: String?
    /// Its members.
    public let body: JSONObject
    /// When it was made.
    public let createdAt: Timestamp
    /// When it was last changed.
    public let updatedAt: Timestamp

    static let select = """
        SELECT r.id, a.name, r.parent, r.key, r.body, r.created_at, r.updated_at
        FROM records r JOIN accounts a ON a.id = r.account
        """

    init(_ row: Statement) {
        id = row.integer(at: 0)
        account = row.text(at: 1) ?? ""
        parent = row.text(at: 2) ?? ""
        key = row.text(at: 3)
        body = JSONObject(stored: row.text(at: 4))
        createdAt = Timestamp(nanoseconds: row.integer(at: 5))
        updatedAt = Timestamp(nanoseconds: row.integer(at: 6))
    }
}

/// The kinds of records whose members the store does not look at.
public enum RecordKind: String, Sendable {
    /// A key with less than all rights; one with a feed is that feed's web hook.
    case token
    /// What the service is to do when a feed has some value.
    case action
    /// Who else may read or write a feed, a group or a dashboard.
    case permission
}

extension SimulatorStore {
    /// Notes what was done; the newest 1000 of an account are kept.
    public func note(account: String, action: String, model: String, data: JSON) throws(StoreError) {
        let now = time.wall().nanoseconds
        try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            try database.run(
                "INSERT INTO activities (account, action, model, data, created_at) VALUES (?, ?, ?, ?, ?)",
                .integer(owner.id),
                .text(action),
                .text(model),
                .text(data.serialized()),
                .integer(now)
            )
            try database.run(
                """
                DELETE FROM activities WHERE account = ?1 AND id <=
                    (SELECT id FROM activities WHERE account = ?1 ORDER BY id DESC LIMIT 1 OFFSET 1000)
                """,
                .integer(owner.id)
            )
        }
    }

    /// What was done on an account, newest first; of one kind of record when `model` is given.
    public func activities(
        account: String,
        model: String? = nil,
        from start: Timestamp? = nil,
        to end: Timestamp? = nil,
        limit: Int = 1000
    ) throws(StoreError) -> [StoredActivity] {
        try read { (database) throws(StoreError) in
            let owner = try database.account(account)
            return try database.rows(
                """
                SELECT id, action, model, data, created_at FROM activities WHERE account = ?
                    AND (?2 IS NULL OR lower(model) = lower(?2)) AND created_at >= ? AND created_at <= ?
                ORDER BY id DESC LIMIT ?
                """,
                .integer(owner.id),
                SQLiteValue(model),
                .integer(start?.nanoseconds ?? .min),
                .integer(end?.nanoseconds ?? .max),
                .integer(Int64(limit))
            ) { row in
                StoredActivity(
                    id: row.integer(at: 0),
                    action: row.text(at: 1) ?? "",
                    model: row.text(at: 2) ?? "",
                    data: row.text(at: 3) ?? "",
                    createdAt: Timestamp(nanoseconds: row.integer(at: 4))
                )
            }
        }
    }

    /// Forgets what was done on an account.
    public func clearActivities(account: String) throws(StoreError) {
        try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            try database.run("DELETE FROM activities WHERE account = ?", .integer(owner.id))
        }
    }

    /// The records of one kind that belong to `parent`.
    public func records(account: String, _ kind: RecordKind, parent: String = "") throws(StoreError) -> [StoredRecord] {
        try read { (database) throws(StoreError) in
            let owner = try database.account(account)
            let sql = "\(StoredRecord.select) WHERE r.account = ? AND r.kind = ? AND r.parent = ? ORDER BY r.id"
            return try database.rows(
                sql,
                .integer(owner.id),
                .text(kind.rawValue),
                .text(parent),
                as: StoredRecord.init
            )
        }
    }

    /// The record with this number.
    public func record(account: String, _ kind: RecordKind, id: Int64, parent: String = "") throws(StoreError)
        -> StoredRecord?
    {
        try records(account: account, kind, parent: parent).first { $0.id == id }
    }

    /// The token with this secret, of any account.
    public func token(key: String) throws(StoreError) -> StoredRecord? {
        try read { (database) throws(StoreError) in
            let sql = "\(StoredRecord.select) WHERE r.key = ? AND r.kind = 'token'"
            return try database.rows(sql, .text(key), as: StoredRecord.init).first
        }
    }

    /// Makes a record.
    public func createRecord(
        account: String,
        _ kind: RecordKind,
        parent: String = "",
        key: String? = nil,
        body: JSONObject
    ) throws(StoreError) -> StoredRecord {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            try database.run(
                """
                INSERT INTO records (account, kind, parent, key, body, created_at, updated_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                .integer(owner.id),
                .text(kind.rawValue),
                .text(parent),
                SQLiteValue(key),
                .text(body.stored),
                .integer(now),
                .integer(now)
            )
            let id = database.connection.lastInsertedRow
            let made = try database.rows("\(StoredRecord.select) WHERE r.id = ?", .integer(id), as: StoredRecord.init)
            guard let record = made.first else { throw .notFound(kind.rawValue) }
            return record
        }
    }

    /// Sets the members of a record that `body` names.
    public func update(_ record: StoredRecord, _ body: JSONObject) throws(StoreError) -> StoredRecord {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            try database.run(
                "UPDATE records SET body = ?, updated_at = ? WHERE id = ?",
                .text(record.body.merged(with: body).stored),
                .integer(now),
                .integer(record.id)
            )
            let sql = "\(StoredRecord.select) WHERE r.id = ?"
            guard let changed = try database.rows(sql, .integer(record.id), as: StoredRecord.init).first else {
                throw .notFound("record")
            }
            return changed
        }
    }

    /// Deletes a record.
    public func delete(_ record: StoredRecord) throws(StoreError) {
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM records WHERE id = ?", .integer(record.id))
        }
    }
}
