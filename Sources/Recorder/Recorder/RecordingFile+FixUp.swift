internal import SQLite

extension RecordingFile {
    /// Where the moved samples of a holding lie.
    struct Moved {
        var first = Int64.max
        var last = Int64.min
    }

    /// Puts the sessions and marks of a boot right; says where its samples lie.
    func fixUpSessions(ofBoot boot: Int64, by offset: Int64) throws(SQLiteError) -> [Holding] {
        let found = try commit { () throws(SQLiteError) -> [Holding] in
            let statements = [
                "UPDATE _sessions SET end_ns = end_ns + ?, end_boot = NULL WHERE end_boot = ?",
                "UPDATE _sessions SET start_ns = start_ns + ?, boot = NULL WHERE boot = ?",
                "UPDATE _marks SET time_ns = time_ns + ?, boot = NULL WHERE boot = ?",
            ]
            for sql in statements { try connection.run(sql, .integer(offset), .integer(boot)) }
            return try holdings(ofBoot: boot)
        }
        try reload()
        return found
    }

    /// Moves up to `limit` samples of the holding to their right times, from `from` on; says from where to go on.
    func fixUpSamples(
        of holding: Holding,
        by offset: Int64,
        from: Int64,
        limit: Int,
        moved: inout Moved
    ) throws(SQLiteError) -> Int64? {
        var bounds = moved
        let next = try commit { () throws(SQLiteError) -> Int64? in
            var rows: [(key: Int64, time: Int64)] = []
            try connection.run(
                """
                SELECT time_ns, time_ns - coalesce(_tie, 0) FROM \(holding.table)
                WHERE time_ns BETWEEN ? AND ? AND \(holding.samples) ORDER BY time_ns LIMIT ?
                """,
                .integer(from),
                .integer(holding.last.reachingTies),
                .integer(Int64(limit))
            ) { row in rows.append((row.integer(at: 0), row.integer(at: 1))) }
            let move = try connection.prepare(
                "UPDATE OR IGNORE \(holding.table) SET time_ns = ?, _tie = nullif(?, 0), _boot = NULL WHERE time_ns = ?"
            )
            for row in rows {
                let time = row.time &+ offset
                var tie: Int64 = 0
                repeat {
                    try move.run(.integer(time &+ tie), .integer(tie), .integer(row.key))
                    tie += 1
                } while connection.changes == 0
                bounds.first = min(bounds.first, time)
                bounds.last = max(bounds.last, time)
            }
            guard let last = rows.last?.key, last < .max else { return nil }
            return last + 1
        }
        moved = bounds
        return next
    }

    /// Counts the samples of a holding, now that all have moved, with those that have a right time.
    func finishFixUp(of holding: Holding, moved: Moved) throws(SQLiteError) {
        try commit { () throws(SQLiteError) in
            var counts = (samples: 0, drops: 0)
            try connection.run("SELECT samples, drops FROM _holdings WHERE \(holding.row)") { row in
                counts = (Int(row.integer(at: 0)), Int(row.integer(at: 1)))
            }
            try connection.run("DELETE FROM _holdings WHERE \(holding.row)")
            let place = Place(stream: holding.stream, session: holding.session)
            let addition = Addition(
                samples: counts.samples,
                drops: counts.drops,
                first: moved.first,
                last: moved.last
            )
            additions[place, default: Addition()].merge(addition)
        }
    }
}
