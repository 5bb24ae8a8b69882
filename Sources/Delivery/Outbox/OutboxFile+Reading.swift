internal import DataPoints
internal import SQLite

extension OutboxFile {
    /// Up to `limit` points of a lane in a state, and the ids of rows whose sum is wrong.
    func read(
        lane: Lane,
        state: PointState,
        newestFirst: Bool,
        beyond id: Int64?,
        limit: Int
    ) throws(SQLiteError) -> (rows: [PointRow], damaged: [Int64]) {
        var rows: [PointRow] = []
        var damaged: [Int64] = []
        guard lane.tally.rows[state.code] > 0, limit > 0 else { return (rows, damaged) }
        let statement = newestFirst ? newestOfLane : oldestOfLane
        try statement.bind(lane.number, at: 1)
        try statement.bind(state.code, at: 2)
        try statement.bind(id ?? (newestFirst ? .max : .min), at: 3)
        try statement.bind(limit, at: 4)
        while try statement.step() {
            if let row = PointRow(statement) { rows.append(row) } else { damaged.append(statement.integer(at: 0)) }
        }
        return (rows, damaged)
    }

    /// How many points of a lane wait with ids beyond `id`, and the newest of those ids.
    func waiting(lane: Lane, beyond id: Int64) throws(SQLiteError) -> (count: Int, newest: Int64?) {
        var found: (count: Int, newest: Int64?) = (0, nil)
        try connection.run(
            "SELECT count(*), max(id) FROM points WHERE lane = ? AND state = ? AND id > ?",
            .integer(lane.number),
            .integer(Int64(PointState.waiting.code)),
            .integer(id)
        ) { row in
            found = (Int(row.integer(at: 0)), row.isNull(at: 1) ? nil : row.integer(at: 1))
        }
        return found
    }

    /// How many points of a lane up to the id `newest` are to be sent or are being sent.
    func sendable(of lane: Lane, upTo newest: Int64) throws(SQLiteError) -> Int64 {
        var count: Int64 = 0
        for state in [PointState.waiting, .sending, .doubt] where lane.tally.rows[state.code] > 0 {
            // Few are newer, all others many: those are counted already.
            let newer = try connection.value(
                "SELECT count(*) FROM points WHERE lane = ? AND state = ? AND id > ?",
                .integer(lane.number),
                .integer(Int64(state.code)),
                .integer(newest)
            )
            count += lane.tally.rows[state.code] - (newer?.integer ?? 0)
        }
        return count
    }

    /// The time of the oldest point that is pending.
    func oldestTime() throws(SQLiteError) -> Int64? {
        try connection.value("SELECT created_ns FROM points ORDER BY id LIMIT 1")?.integer
    }
}
