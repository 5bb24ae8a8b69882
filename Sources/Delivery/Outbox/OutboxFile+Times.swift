internal import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxFile {
    /// Gives up to `limit` points of this boot, made while the wall clock was wrong, their right time; says how many.
    ///
    /// `offset` is the right wall time less the boot-time clock.
    func fixUp(offset: Int64, limit: Int) throws(SQLiteError) -> Int {
        let rows = try untimed(ofThisBoot: true, limit: limit)
        for row in rows {
            var row = row
            guard let found = try find(row.id) else { continue }
            try remove(row.id, found)
            row.createdAt = row.bootTime &+ offset
            row.state = .waiting
            try insert(row)
        }
        return rows.count
    }

    /// Moves up to `limit` points of earlier boots that never had a right clock to the dead letters; says how many.
    func giveUpUntimed(limit: Int) throws(SQLiteError) -> Int {
        let rows = try untimed(ofThisBoot: false, limit: limit)
        for row in rows { _ = try refuse(row.id, DeadLetterReason.timeUnknown) }
        return rows.count
    }

    private func untimed(ofThisBoot isOurs: Bool, limit: Int) throws(SQLiteError) -> [PointRow] {
        var rows: [PointRow] = []
        var damaged: [Int64] = []
        for lane in lanes where lane.tally.rows[PointState.untimed.code] > 0 && rows.count < limit {
            try connection.run(
                """
                SELECT \(OutboxSchema.pointColumns) FROM points
                WHERE lane = ? AND state = ? AND (boot = ?) = ? ORDER BY id LIMIT ?
                """,
                .integer(lane.number),
                .integer(Int64(PointState.untimed.code)),
                .integer(boot),
                .integer(isOurs ? 1 : 0),
                .integer(Int64(limit - rows.count))
            ) { statement in
                if let row = PointRow(statement) { rows.append(row) } else { damaged.append(statement.integer(at: 0)) }
            }
        }
        for id in damaged { _ = try refuse(id, DeadLetterReason.damaged) }
        return rows
    }

    /// Evicts points made before `limit` among the `count` points after the id `start`; says where to go on, and the
    /// oldest time of those that stay.
    func evictOld(before limit: Int64, after start: Int64, count: Int) throws(SQLiteError) -> (
        next: Int64?, oldest: Int64
    ) {
        var old: [Int64] = []
        var (seen, last, oldest) = (0, start, Int64.max)
        try connection.run(
            "SELECT id, created_ns, state FROM points WHERE id > ? ORDER BY id LIMIT ?",
            .integer(start),
            .integer(Int64(count))
        ) { row in
            seen += 1
            last = row.integer(at: 0)
            let isFixed = [PointState.sending.code, PointState.untimed.code].contains(Int(row.integer(at: 2)))
            if isFixed { return }
            if row.integer(at: 1) < limit { old.append(last) } else { oldest = min(oldest, row.integer(at: 1)) }
        }
        _ = try apply(.evicted(old, .age))
        return (seen == count ? last : nil, oldest)
    }
}
