internal import AdafruitIO
internal import Diagnostics
internal import SQLite

extension SimulatorStore {
    /// The group with this key or name; the default group is always there.
    public func group(account: String, identifier: String) throws(StoreError) -> StoredGroup? {
        try read { (database) throws(StoreError) in try database.group(account: account, identifier: identifier) }
    }

    /// The groups of an account.
    public func groups(account: String) throws(StoreError) -> [StoredGroup] {
        try read { (database) throws(StoreError) in
            let owner = try database.account(account)
            let sql = "\(StoredGroup.select) WHERE account = ? ORDER BY id"
            return try database.rows(sql, .integer(owner.id), as: StoredGroup.init)
        }
    }

    /// Makes a group.
    public func createGroup(
        account: String,
        name: String?,
        key: String? = nil,
        description: String? = nil,
        visibility: String? = nil
    ) throws(StoreError) -> StoredGroup {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            if let limit = owner.plan.groups {
                // The default group is not counted: it comes with the account.
                let sql = "SELECT COUNT(*) - 1 FROM groups WHERE account = ?"
                guard (try database.value(sql, .integer(owner.id))?.integer ?? 0) < limit else {
                    throw .groupLimit(limit)
                }
            }
            let key = try database.checkedKey(name: name, key: key, of: "groups", account: owner.id, except: nil)
            try database.run(
                """
                INSERT INTO groups (account, key, name, description, visibility, created_at, updated_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                .integer(owner.id),
                .text(key),
                SQLiteValue(name),
                SQLiteValue(description),
                .text(visibility ?? "private"),
                .integer(now),
                .integer(now)
            )
            return try database.requiredGroup(account: account, identifier: key)
        }
    }

    /// Changes members of a group; nil leaves them.
    public func update(
        _ group: StoredGroup,
        account: String,
        name: String?,
        key: String?,
        description: String?,
        visibility: String?
    ) throws(StoreError) -> StoredGroup {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            let key = try database.checkedKey(
                name: name ?? group.name,
                key: key ?? group.key,
                of: "groups",
                account: owner.id,
                except: group.id
            )
            try database.run(
                """
                UPDATE groups SET name = COALESCE(?, name), key = ?, description = COALESCE(?, description),
                    visibility = COALESCE(?, visibility), updated_at = ? WHERE id = ?
                """,
                SQLiteValue(name),
                .text(group.key == StoredGroup.defaultKey ? group.key : key),
                SQLiteValue(description),
                SQLiteValue(visibility),
                .integer(now),
                .integer(group.id)
            )
            let sql = "\(StoredGroup.select) WHERE id = ?"
            guard let changed = try database.rows(sql, .integer(group.id), as: StoredGroup.init).first else {
                throw .notFound("group")
            }
            return changed
        }
    }

    /// Deletes a group, and the feeds that are in no other.
    public func delete(_ group: StoredGroup) throws(StoreError) {
        guard group.key != StoredGroup.defaultKey else { throw .validation(["Default group cannot be deleted"]) }
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM groups WHERE id = ?", .integer(group.id))
            try database.run("DELETE FROM feeds WHERE id NOT IN (SELECT feed FROM memberships)")
        }
    }

    /// Puts a feed into a group, under the key that it has.
    public func add(_ feed: StoredFeed, to group: StoredGroup) throws(StoreError) {
        try write { (database) throws(StoreError) in
            let key = try database.checkedKey(name: feed.name, key: feed.key, in: group, except: feed.id)
            try database.run(
                "INSERT INTO memberships (\"group\", feed, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                .integer(group.id),
                .integer(feed.id),
                .text(key)
            )
        }
    }

    /// Takes a feed out of a group. One that is in no other goes back to the default group.
    public func remove(_ feed: StoredFeed, from group: StoredGroup, account: String) throws(StoreError) {
        try write { (database) throws(StoreError) in
            let sql = "SELECT COUNT(*) FROM memberships WHERE feed = ? AND \"group\" <> ?"
            if try database.value(sql, .integer(feed.id), .integer(group.id))?.integer == 0 {
                let home = try database.requiredGroup(account: account, identifier: StoredGroup.defaultKey)
                let key = try database.checkedKey(name: feed.name, key: feed.key, in: home, except: feed.id)
                try database.run(
                    "INSERT INTO memberships (\"group\", feed, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    .integer(home.id),
                    .integer(feed.id),
                    .text(key)
                )
                guard home.id != group.id else { return }
            }
            try database.run(
                "DELETE FROM memberships WHERE feed = ? AND \"group\" = ?",
                .integer(feed.id),
                .integer(group.id)
            )
        }
    }
}

extension StoreDatabase {
    borrowing func group(account: String, identifier: String) throws(StoreError) -> StoredGroup? {
        let owner = try self.account(account)
        let found = try rows(
            "\(StoredGroup.select) WHERE account = ? AND (key = ? OR name = ? OR key = ? OR CAST(id AS TEXT) = ?)",
            .integer(owner.id),
            .text(identifier),
            .text(identifier),
            .text(NameRules.key(of: identifier)),
            .text(identifier),
            as: StoredGroup.init
        )
        return found.first { $0.key == identifier } ?? found.first { $0.name == identifier } ?? found.first
    }

    borrowing func requiredGroup(account: String, identifier: String) throws(StoreError) -> StoredGroup {
        guard let group = try group(account: account, identifier: identifier) else { throw .notFound("group") }
        return group
    }

    /// The key for a name and a wanted key among the groups or the dashboards of an account.
    borrowing func checkedKey(
        name: String?,
        key: String?,
        of table: String,
        account: Int64,
        except id: Int64?
    ) throws(StoreError) -> String {
        guard let name, !name.isEmpty else { throw .validation(["Name can't be blank"]) }
        guard name.utf8.count <= NameRules.longest else {
            throw .validation(["Name is too long (maximum is \(NameRules.longest) characters)"])
        }
        guard table != "groups" || NameRules.isName(name) else { throw .validation([NameRules.complaint]) }
        let key = NameRules.key(of: key ?? name)
        guard !key.isEmpty else { throw .validation(["Key can't be blank"]) }
        let sql = "SELECT name = ? FROM \(table) WHERE account = ? AND id IS NOT ? AND (key = ? OR name = ?)"
        let taken = try value(sql, .text(name), .integer(account), SQLiteValue(id), .text(key), .text(name))
        guard let taken else { return key }
        throw .validation(
            taken.integer == 1
                ? ["Name has already been taken", "Key has already been taken"] : ["Key has already been taken"]
        )
    }
}
