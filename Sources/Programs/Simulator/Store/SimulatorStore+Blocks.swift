internal import Diagnostics
public import FastJSON
internal import SQLite

extension SimulatorStore {
    /// The blocks of a dashboard.
    public func blocks(account: String, _ dashboard: StoredDashboard) throws(StoreError) -> [StoredBlock] {
        try read { (database) throws(StoreError) in
            try database.blocks(account: account, where: "dashboard = ?", dashboard.id)
        }
    }

    /// The block with this number.
    public func block(account: String, _ dashboard: StoredDashboard, id: Int64) throws(StoreError) -> StoredBlock? {
        try read { (database) throws(StoreError) in
            try database.blocks(account: account, where: "id = ?1 AND dashboard = \(dashboard.id)", id).first
        }
    }

    /// Makes a block, connected to feeds, and gives it a place in the layouts.
    public func createBlock(
        account: String,
        _ dashboard: StoredDashboard,
        visualType: String,
        name: String?,
        settings: JSONObject,
        feeds: [StoredFeed]
    ) throws(StoreError) -> StoredBlock {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            try database.run(
                """
                INSERT INTO blocks (dashboard, visual_type, name, settings, created_at, updated_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                .integer(dashboard.id),
                .text(visualType),
                SQLiteValue(name),
                .text(settings.stored),
                .integer(now),
                .integer(now)
            )
            let id = database.connection.lastInsertedRow
            try database.wire(feeds, to: id)
            var layouts = try database.requiredDashboard(id: dashboard.id).layouts
            layouts.add(
                block: String(id),
                width: settings["size_x"]?.int ?? 4,
                height: settings["size_y"]?.int ?? 4
            )
            try database.store(layouts, of: dashboard.id, now)
            return try database.requiredBlock(account: account, id: id)
        }
    }

    /// Changes members of a block: nil leaves them, settings are set where named, feeds are replaced as a whole.
    public func update(
        _ block: StoredBlock,
        account: String,
        visualType: String?,
        name: String?,
        settings: JSONObject,
        feeds: [StoredFeed]?
    ) throws(StoreError) -> StoredBlock {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            try database.run(
                """
                UPDATE blocks SET visual_type = COALESCE(?, visual_type), name = COALESCE(?, name), settings = ?,
                    updated_at = ? WHERE id = ?
                """,
                SQLiteValue(visualType),
                SQLiteValue(name),
                .text(block.settings.merged(with: settings).stored),
                .integer(now),
                .integer(block.id)
            )
            if let feeds {
                try database.run("DELETE FROM wires WHERE block = ?", .integer(block.id))
                try database.wire(feeds, to: block.id)
            }
            return try database.requiredBlock(account: account, id: block.id)
        }
    }

    /// Deletes a block and its place in the layouts.
    public func delete(_ block: StoredBlock, of dashboard: StoredDashboard) throws(StoreError) {
        let now = time.wall().nanoseconds
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM blocks WHERE id = ?", .integer(block.id))
            var layouts = try database.requiredDashboard(id: dashboard.id).layouts
            layouts.remove(block: String(block.id))
            try database.store(layouts, of: dashboard.id, now)
        }
    }
}

extension StoreDatabase {
    borrowing func wire(_ feeds: [StoredFeed], to block: Int64) throws(StoreError) {
        for feed in feeds {
            try run(
                "INSERT INTO wires (block, feed, \"group\") VALUES (?, ?, ?)",
                .integer(block),
                .integer(feed.id),
                .integer(feed.groupID)
            )
        }
    }

    borrowing func requiredBlock(account: String, id: Int64) throws(StoreError) -> StoredBlock {
        guard let block = try blocks(account: account, where: "id = ?", id).first else { throw .notFound("block") }
        return block
    }

    borrowing func blocks(
        account: String,
        where condition: String,
        _ parameter: Int64
    ) throws(StoreError) -> [StoredBlock] {
        let plain = try rows(
            "SELECT id, visual_type, name, settings, created_at, updated_at FROM blocks WHERE \(condition) ORDER BY id",
            .integer(parameter)
        ) { row in
            StoredBlock(
                id: row.integer(at: 0),
                visualType: row.text(at: 1) ?? "",
                name: row.text(at: 2),
                settings: JSONObject(stored: row.text(at: 3)),
                wires: [],
                createdAt: Timestamp(nanoseconds: row.integer(at: 4)),
                updatedAt: Timestamp(nanoseconds: row.integer(at: 5))
            )
        }
        var blocks: [StoredBlock] = []
        for block in plain {
            let ends = try rows(
                "SELECT id, feed, \"group\" FROM wires WHERE block = ? ORDER BY id",
                .integer(block.id)
            ) { (id: $0.integer(at: 0), feed: $0.integer(at: 1), group: $0.integer(at: 2)) }
            var wires: [StoredBlock.Wire] = []
            for end in ends {
                let feed = try requiredFeed(account: account, id: end.feed, group: end.group)
                wires.append(StoredBlock.Wire(id: end.id, feed: feed))
            }
            blocks.append(block.with(wires))
        }
        return blocks
    }
}

extension StoredBlock {
    fileprivate func with(_ wires: [Wire]) -> StoredBlock {
        StoredBlock(
            id: id,
            visualType: visualType,
            name: name,
            settings: settings,
            wires: wires,
            createdAt: createdAt,
            updatedAt: updatedAt
        )
    }
}
