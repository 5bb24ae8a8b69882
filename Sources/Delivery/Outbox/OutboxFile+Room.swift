internal import DataPoints
internal import SQLite

extension OutboxFile {
    /// Bytes of pages that hold something.
    func usedBytes() throws(SQLiteError) -> Int { try connection.size().usedBytes }

    /// Where the making of room stands: it goes through the points from the oldest to the newest, again and again.
    struct RoomPass {
        var cursor: Int64 = 0
        /// The newest point when this pass began: later ones belong to the next.
        var end: Int64 = 0
        /// Whether the next point of a lane stays.
        var keepsNext: [Int64: Bool] = [:]
        var evicted = 0
    }

    /// The priority up to which points go first: those of the lowest, but at least a quarter of all.
    var evictablePriority: UInt8 {
        var waiting: [UInt8: Int64] = [:]
        for lane in lanes { waiting[lane.priority, default: 0] += lane.tally.pending }
        let all = waiting.values.reduce(0, +)
        var sum: Int64 = 0
        for (priority, count) in waiting.sorted(by: { $0.key < $1.key }) {
            sum += count
            if sum * 4 >= all { return priority }
        }
        return .max
    }

    /// Evicts among the next `count` of the oldest points; false when the pass is at its end.
    ///
    /// What stays is written anew in their place, so that whole pages become free.
    func makeRoom(_ pass: inout RoomPass, thinning: Bool, count: Int) throws(SQLiteError) -> Bool {
        if pass.end == 0 { pass.end = try connection.value("SELECT max(id) FROM points")?.integer ?? 0 }
        let priority = evictablePriority
        var kept: [PointRow] = []
        var gone: [Int64] = []
        var damaged: [Int64] = []
        var seen = 0
        try connection.run(
            "SELECT \(OutboxSchema.pointColumns) FROM points WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
            .integer(pass.cursor),
            .integer(pass.end),
            .integer(Int64(count))
        ) { statement in
            seen += 1
            pass.cursor = statement.integer(at: 0)
            guard let row = PointRow(statement) else {
                damaged.append(pass.cursor)
                return
            }
            guard row.state != .sending, row.priority <= priority else {
                kept.append(row)
                return
            }
            if thinning, pass.keepsNext[row.lane, default: true] {
                pass.keepsNext[row.lane] = false
                kept.append(row)
            } else {
                pass.keepsNext[row.lane] = true
                gone.append(row.id)
            }
        }
        for id in damaged { _ = try refuse(id, DeadLetterReason.damaged) }
        guard seen > 0 else { return false }
        guard !gone.isEmpty else { return seen == count }
        _ = try apply(.evicted(gone, .full))
        pass.evicted += gone.count
        if thinning {
            for row in kept {
                guard let found = try find(row.id) else { continue }
                try remove(row.id, found)
            }
            for row in kept { try insert(row) }
        }
        return seen == count
    }
}
