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

    /// The time of the oldest point that is pending.
    func oldestTime() throws(SQLiteError) -> Int64? {
        try connection.value("SELECT created_ns FROM points ORDER BY id LIMIT 1")?.integer
    }
}
