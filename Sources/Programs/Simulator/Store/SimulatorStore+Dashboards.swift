internal import AdafruitIO
internal import Diagnostics
public import FastJSON
internal import SQLite

extension SimulatorStore {
    /// The dashboards of an account.
    public func dashboards(account: String) throws(StoreError) -> [StoredDashboard] {
        try read { (database) throws(StoreError) in
            let owner = try database.account(account)
            let sql = "\(StoredDashboard.select) WHERE account = ? ORDER BY id"
            return try database.rows(sql, .integer(owner.id), as: StoredDashboard.init)
        }
    }

    /// The dashboard with this key or number.
    public func dashboard(account: String, identifier: String) throws(StoreError) -> StoredDashboard? {
        try read { (database) throws(StoreError) in
            let owner = try database.account(account)
            let sql =
                "\(StoredDashboard.select) WHERE account = ? AND (key = ? OR CAST(id AS TEXT) = ?) ORDER BY key <> ?"
            return try database.rows(
                sql,
                .integer(owner.id),
                .text(identifier),
                .text(identifier),
                .text(identifier),
                as: StoredDashboard.init
            ).first
        }
    }

    /// Makes a dashboard.
    public func createDashboard(
        account: String,
        name: String?,
        key: String?,
        settings: JSONObject
    ) throws(StoreError) -> StoredDashboard {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            if let limit = owner.plan.dashboards {
                let count = try database.value("SELECT COUNT(*) FROM dashboards WHERE account = ?", .integer(owner.id))
                guard (count?.integer ?? 0) < limit else { throw .dashboardLimit(limit) }
            }
            let key = try database.checkedKey(name: name, key: key, of: "dashboards", account: owner.id, except: nil)
            try database.run(
                """
                INSERT INTO dashboards (account, key, name, settings, layouts, created_at, updated_at)
                VALUES (?, ?, ?, ?, '{}', ?, ?)
                """,
                .integer(owner.id),
                .text(key),
                SQLiteValue(name),
                .text(settings.stored),
                .integer(now),
                .integer(now)
            )
            return try database.requiredDashboard(id: database.connection.lastInsertedRow)
        }
    }

    /// Changes members of a dashboard; nil leaves them, and of the settings those that are named are set.
    public func update(
        _ dashboard: StoredDashboard,
        account: String,
        name: String?,
        key: String?,
        settings: JSONObject
    ) throws(StoreError) -> StoredDashboard {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            let owner = try database.account(account)
            let key = try database.checkedKey(
                name: name ?? dashboard.name,
                key: key ?? dashboard.key,
                of: "dashboards",
                account: owner.id,
                except: dashboard.id
            )
            try database.run(
                "UPDATE dashboards SET name = COALESCE(?, name), key = ?, settings = ?, updated_at = ? WHERE id = ?",
                SQLiteValue(name),
                .text(key),
                .text(dashboard.settings.merged(with: settings).stored),
                .integer(now),
                .integer(dashboard.id)
            )
            return try database.requiredDashboard(id: dashboard.id)
        }
    }

    /// Sets where the blocks are, for the widths of screen that `layouts` names.
    public func setLayouts(_ layouts: JSON, of dashboard: StoredDashboard) throws(StoreError) -> DashboardLayouts {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            var all = try database.requiredDashboard(id: dashboard.id).layouts
            all.update(layouts)
            try database.store(all, of: dashboard.id, now)
            return all
        }
    }

    /// Deletes a dashboard with its blocks.
    public func delete(_ dashboard: StoredDashboard) throws(StoreError) {
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM dashboards WHERE id = ?", .integer(dashboard.id))
        }
    }
}

extension StoreDatabase {
    borrowing func requiredDashboard(id: Int64) throws(StoreError) -> StoredDashboard {
        let found = try rows("\(StoredDashboard.select) WHERE id = ?", .integer(id), as: StoredDashboard.init)
        guard let dashboard = found.first else { throw .notFound("dashboard") }
        return dashboard
    }

    borrowing func store(_ layouts: DashboardLayouts, of dashboard: Int64, _ now: Int64) throws(StoreError) {
        try run(
            "UPDATE dashboards SET layouts = ?, updated_at = ? WHERE id = ?",
            .text(layouts.json.serialized()),
            .integer(now),
            .integer(dashboard)
        )
    }
}

extension JSONObject {
    /// These members with those of `other` set; a null removes nothing and sets null.
    func merged(with other: JSONObject) -> JSONObject {
        var merged = self
        for (key, value) in other { merged[key] = value }
        return merged
    }
}
