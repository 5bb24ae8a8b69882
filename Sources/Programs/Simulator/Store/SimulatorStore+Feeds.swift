internal import AdafruitIO
internal import Diagnostics
internal import SQLite

extension SimulatorStore {
    /// The feed that `identifier` names: `feed` of the default group, or `group.feed`; each part a key, a name as it was
    /// given, or whatever gives that key.
    public func feed(account: String, identifier: String) throws(StoreError) -> StoredFeed? {
        try read { (database) throws(StoreError) in try database.feed(account: account, identifier: identifier) }
    }

    /// The feed with this number, seen through the group that it was made in.
    public func feed(account: String, id: Int64) throws(StoreError) -> StoredFeed? {
        try read { (database) throws(StoreError) in
            try database.feeds(of: account, where: "f.id = ?", .integer(id)).first
        }
    }

    /// The feeds of an account, each once.
    public func feeds(account: String) throws(StoreError) -> [StoredFeed] {
        try read { (database) throws(StoreError) in
            var seen: Set<Int64> = []
            return try database.feeds(of: account, where: "TRUE").filter { seen.insert($0.id).inserted }
        }
    }

    /// The feeds of a group.
    public func feeds(account: String, group: StoredGroup) throws(StoreError) -> [StoredFeed] {
        try read { (database) throws(StoreError) in
            try database.feeds(of: account, where: "g.id = ?", .integer(group.id))
        }
    }

    /// The groups that hold a feed, the one that it was made in first.
    public func groups(of feed: StoredFeed) throws(StoreError) -> [StoredGroup] {
        try read { (database) throws(StoreError) in
            try database.rows(
                "\(StoredGroup.select) WHERE id IN (SELECT \"group\" FROM memberships WHERE feed = ?) ORDER BY id",
                .integer(feed.id),
                as: StoredGroup.init
            )
        }
    }

    /// Makes a feed in a group that is there; nil is the default group.
    public func createFeed(account: String, name: String, group: String?) throws(StoreError) -> StoredFeed {
        try createFeed(account: account, FeedChange(name: name), group: group)
    }

    /// The same with more than a name.
    public func createFeed(
        account: String,
        _ change: FeedChange,
        group: String?
    ) throws(StoreError) -> StoredFeed {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            let group = try database.requiredGroup(account: account, identifier: group ?? StoredGroup.defaultKey)
            if let limit = owner.plan.feeds {
                let count = try database.value("SELECT COUNT(*) FROM feeds WHERE account = ?", .integer(owner.id))
                guard (count?.integer ?? 0) < limit else { throw .feedLimit(limit) }
            }
            let key = try database.checkedKey(name: change.name, key: change.key, in: group, except: nil)
            try database.run(
                "INSERT INTO feeds (account, name, created_at, updated_at) VALUES (?, ?, ?, ?)",
                .integer(owner.id),
                SQLiteValue(change.name),
                .integer(now),
                .integer(now)
            )
            let id = database.connection.lastInsertedRow
            try database.run(
                "INSERT INTO memberships (\"group\", feed, key) VALUES (?, ?, ?)",
                .integer(group.id),
                .integer(id),
                .text(key)
            )
            try database.set(change, of: id, now)
            return try database.requiredFeed(account: account, id: id, group: group.id)
        }
    }

    /// Changes members of a feed.
    public func update(
        _ feed: StoredFeed,
        account: String,
        _ change: FeedChange
    ) throws(StoreError) -> StoredFeed {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let group = try database.requiredGroup(account: account, identifier: feed.groupKey)
            if change.name != nil || change.key != nil {
                // A new name does not move the key: devices go on as before.
                let name = change.name ?? feed.name
                let key = try database.checkedKey(name: name, key: change.key ?? feed.key, in: group, except: feed.id)
                try database.run("UPDATE feeds SET name = ? WHERE id = ?", .text(name), .integer(feed.id))
                try database.run(
                    "UPDATE memberships SET key = ? WHERE feed = ? AND \"group\" = ?",
                    .text(key),
                    .integer(feed.id),
                    .integer(group.id)
                )
            }
            try database.set(change, of: feed.id, now)
            return try database.requiredFeed(account: account, id: feed.id, group: group.id)
        }
    }

    /// Deletes a feed with its data.
    public func delete(_ feed: StoredFeed) throws(StoreError) {
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM feeds WHERE id = ?", .integer(feed.id))
        }
    }
}

extension StoreDatabase {
    /// The feeds of an account in the order they were made, those of several groups once for each.
    borrowing func feeds(
        of account: String,
        where condition: String,
        _ parameters: SQLiteValue...
    ) throws(StoreError) -> [StoredFeed] {
        let owner = try self.account(account)
        var feeds: [StoredFeed] = []
        let sql = "\(StoredFeed.select) WHERE f.account = ? AND \(condition) ORDER BY f.id, g.id"
        try run(sql, all: [.integer(owner.id)] + parameters) { feeds.append(StoredFeed($0)) }
        return feeds
    }

    borrowing func feed(account: String, identifier text: String) throws(StoreError) -> StoredFeed? {
        guard let identifier = FeedIdentifier(text),
            let group = try group(account: account, identifier: identifier.group ?? StoredGroup.defaultKey)
        else { return nil }
        let inGroup = "g.id = ? AND (m.key = ? OR f.name = ? OR m.key = ?)"
        let found = try feeds(
            of: account,
            where: inGroup,
            .integer(group.id),
            .text(identifier.feed),
            .text(identifier.feed),
            .text(NameRules.key(of: identifier.feed))
        )
        return found.first { $0.key == identifier.feed } ?? found.first { $0.name == identifier.feed } ?? found.first
    }

    borrowing func requiredFeed(account: String, id: Int64, group: Int64) throws(StoreError) -> StoredFeed {
        let found = try feeds(of: account, where: "f.id = ? AND g.id = ?", .integer(id), .integer(group))
        guard let feed = found.first else { throw .notFound("feed") }
        return feed
    }

    /// The key for a name and a wanted key, when the group has room for both.
    borrowing func checkedKey(
        name: String?,
        key: String?,
        in group: StoredGroup,
        except feed: Int64?
    ) throws(StoreError) -> String {
        guard let name, !name.isEmpty else { throw .validation(["Name can't be blank"]) }
        guard NameRules.isName(name) else { throw .validation([NameRules.complaint]) }
        let key = NameRules.key(of: key ?? name)
        guard !key.isEmpty else { throw .validation(["Key can't be blank"]) }
        var complaints: [String] = []
        try run(
            """
            SELECT m.key, f.name FROM memberships m JOIN feeds f ON f.id = m.feed
            WHERE m."group" = ? AND f.id IS NOT ? AND (m.key = ? OR m.key = ? OR f.name = ?)
            """,
            .integer(group.id),
            SQLiteValue(feed),
            .text(key),
            .text(name),
            .text(name)
        ) { row in
            if row.text(at: 1) == name || row.text(at: 0) == name { complaints.append("Name has already been taken") }
            if row.text(at: 0) == key { complaints.append("Key has already been taken") }
        }
        guard complaints.isEmpty else {
            throw .validation(
                ["Name has already been taken", "Key has already been taken"].filter(complaints.contains)
            )
        }
        return key
    }

    borrowing func set(_ change: FeedChange, of feed: Int64, _ now: Int64) throws(StoreError) {
        try run(
            """
            UPDATE feeds SET description = COALESCE(?, description), license = COALESCE(?, license),
                history = COALESCE(?, history), visibility = COALESCE(?, visibility),
                unit_type = COALESCE(?, unit_type), unit_symbol = COALESCE(?, unit_symbol),
                status_notify = COALESCE(?, status_notify), status_timeout = COALESCE(?, status_timeout), updated_at = ?
            WHERE id = ?
            """,
            SQLiteValue(change.description),
            SQLiteValue(change.license),
            SQLiteValue(change.history.map { $0 ? 1 : 0 } as Int64?),
            SQLiteValue(change.visibility),
            SQLiteValue(change.unitType),
            SQLiteValue(change.unitSymbol),
            SQLiteValue(change.statusNotify.map { $0 ? 1 : 0 } as Int64?),
            SQLiteValue(change.statusTimeout.map(Int64.init)),
            .integer(now),
            .integer(feed)
        )
        if change.history == false {
            try run(
                "DELETE FROM data WHERE feed = ?1 AND sequence IS NOT (SELECT last FROM feeds WHERE id = ?1)",
                .integer(feed)
            )
        }
    }
}
