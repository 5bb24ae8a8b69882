internal import SQLite

extension RecordingFile {
    /// The tables that hold samples of a session (0: the always store), with the times between which they lie.
    struct Holding {
        let stream: Int64
        let session: Int64
        let boot: Int64
        let table: String
        let first: Int64
        let last: Int64

        /// The names of the holding's row and of its samples' rows, as SQL; the numbers are ours.
        var row: String { "stream = \(stream) AND session = \(session) AND boot = \(boot)" }
        var samples: String {
            let session = session == RecordingSchema.alwaysStore ? "IS NULL" : "= \(session)"
            let boot = boot == RecordingSchema.rightClock ? "IS NULL" : "= \(boot)"
            return "_session \(session) AND _boot \(boot)"
        }
    }

    /// What there is of a session (0: the always store).
    func holdings(ofSession session: Int64) throws(SQLiteError) -> [Holding] {
        try holdings(where: "session = ?", session)
    }

    /// What there is of a boot whose clock was wrong, in all sessions.
    func holdings(ofBoot boot: Int64) throws(SQLiteError) -> [Holding] {
        try holdings(where: "boot = ?", boot)
    }

    private func holdings(where condition: String, _ number: Int64) throws(SQLiteError) -> [Holding] {
        var holdings: [Holding] = []
        try connection.run(
            """
            SELECT stream, session, boot, table_name, first_ns, last_ns FROM _holdings JOIN _streams ON id = stream
            WHERE \(condition) AND samples > 0
            """,
            .integer(number)
        ) { row in
            holdings.append(
                Holding(
                    stream: row.integer(at: 0),
                    session: row.integer(at: 1),
                    boot: row.integer(at: 2),
                    table: SQLiteName.quoted(row.text(at: 3) ?? ""),
                    first: row.integer(at: 4),
                    last: row.integer(at: 5)
                )
            )
        }
        return holdings
    }

    /// Deletes up to `limit` samples of the holding with times from `from` to `to`.
    ///
    /// Says from where to go on; nil when nothing is left there.
    func deleteSamples(of holding: Holding, from: Int64, to: Int64, limit: Int) throws(SQLiteError) -> Int64? {
        guard from <= to else { return nil }
        return try commit { () throws(SQLiteError) -> Int64? in
            // A tied sample lies a few nanoseconds after its own time.
            let old = "\(holding.samples) AND time_ns - coalesce(_tie, 0) <= ?"
            var last: Int64?
            try connection.run(
                """
                SELECT max(time_ns) FROM (SELECT time_ns FROM \(holding.table)
                WHERE time_ns BETWEEN ? AND ? AND \(old) ORDER BY time_ns LIMIT ?)
                """,
                .integer(from),
                .integer(to.reachingTies),
                .integer(to),
                .integer(Int64(limit))
            ) { row in last = row.isNull(at: 0) ? nil : row.integer(at: 0) }
            guard let last else {
                // Nothing is left up to here: the next search begins behind it.
                try connection.run(
                    "UPDATE _holdings SET first_ns = max(first_ns, min(?, last_ns)) WHERE \(holding.row)",
                    .integer(to == .max ? to : to + 1)
                )
                return nil
            }
            try connection.run(
                "DELETE FROM \(holding.table) WHERE time_ns BETWEEN ? AND ? AND \(old)",
                .integer(from),
                .integer(last),
                .integer(to)
            )
            try connection.run(
                "UPDATE _holdings SET samples = samples - ?, first_ns = min(?, last_ns) WHERE \(holding.row)",
                .integer(Int64(connection.changes)),
                .integer(last == .max ? last : last + 1)
            )
            return last == .max ? nil : last + 1
        }
    }

    /// Removes a session's row, marks and counts, once its samples are gone.
    func removeSession(_ id: Int64) throws(SQLiteError) {
        try commit { () throws(SQLiteError) in
            try connection.run("DELETE FROM _holdings WHERE session = ?", .integer(id))
            try connection.run("DELETE FROM _marks WHERE session = ?", .integer(id))
            try connection.run("DELETE FROM _sessions WHERE id = ?", .integer(id))
        }
        spans.removeAll { $0.id == id }
    }

    /// Drops the tables in which nothing is left, so that their places are free for other streams.
    func dropEmptyTables() throws(SQLiteError) {
        var empty: [(id: Int64, table: String)] = []
        try connection.run(
            """
            SELECT id, table_name FROM _streams WHERE NOT EXISTS
                (SELECT 1 FROM _holdings WHERE stream = _streams.id AND (samples > 0 OR drops > 0 AND session > 0))
            """
        ) { row in empty.append((row.integer(at: 0), SQLiteName.quoted(row.text(at: 1) ?? ""))) }
        guard !empty.isEmpty else { return }
        // Their statements would keep the tables in use.
        tables = [:]
        newestTable = nil
        try commit { () throws(SQLiteError) in
            for (id, table) in empty {
                for owner in ["_holdings", "_fields"] {
                    try connection.run("DELETE FROM \(owner) WHERE stream = ?", .integer(id))
                }
                try connection.run("DELETE FROM _streams WHERE id = ?", .integer(id))
                try connection.execute("DROP TABLE \(table)")
            }
            try copySchema()
        }
    }

    /// Gives some free pages back to the disk; says whether there are more.
    func giveBackSpace() throws(SQLiteError) -> Bool {
        guard try connection.size().freePages > 0 else {
            try connection.checkpoint()
            return false
        }
        try connection.giveBackSpace(pages: 1000)
        return true
    }
}
