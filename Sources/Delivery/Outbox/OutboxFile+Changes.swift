internal import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxFile {
    /// What the changes need to know beside the file.
    struct Circumstances {
        /// Points made before this are too old; nil while nobody knows the time.
        var oldest: Int64?
        /// Whether new points are refused for want of room.
        var isFull = false
    }

    /// Puts new points in and shows those that may be sent; says how many were too old or had no room.
    func append(
        _ batch: OutboxBuffer.Batch,
        _ circumstances: Circumstances,
        inserted: (OutboxPoint) -> Void
    ) throws(SQLiteError) -> Int {
        var evicted = 0
        for point in batch.points {
            // Only a time that our own wall clock gave is wrong with it.
            let lag = batch.wall - point.createdAt
            let isWrong = !batch.isTimed && OutboxBuffer.isNear(point.createdAt, batch.wall)
            let bootTime = batch.boot.nanoseconds &- lag.nanoseconds
            let createdAt =
                isWrong ? batch.rightOffset.map { bootTime &+ $0 } : point.createdAt.nanoseconds

            let lane = index(of: Lane.Key(feed: point.feed, priority: batch.priority))
            change(lane: lane) { $0.accepted += 1 }
            let isTooOld = createdAt.map { time in circumstances.oldest.map { time < $0 } ?? false } ?? false
            let cause: EvictionCause? = circumstances.isFull ? .full : isTooOld ? .age : nil
            if let cause {
                change(lane: lane) { $0.evicted[cause.code] += 1 }
                evicted += 1
                continue
            }
            let row = PointRow(
                id: nextID,
                state: createdAt == nil ? .untimed : .waiting,
                createdAt: createdAt ?? point.createdAt.nanoseconds,
                boot: boot,
                bootTime: bootTime,
                priority: batch.priority,
                feed: point.feed,
                value: point.value,
                location: point.location
            )
            nextID += 1
            if try insert(row), row.state == .waiting { inserted(row.outboxPoint) }
        }
        return evicted
    }

    /// Counts points that were dropped before they came here.
    func count(_ drops: [OutboxBuffer.Drop: Int]) {
        for (drop, count) in drops where count != 0 {
            change(lane: index(of: drop.lane)) { tally in
                tally.accepted += Int64(count)
                tally.evicted[drop.cause.code] += Int64(count)
            }
        }
    }

    /// Does what happened to points; says to how many of them. Points that have gone meanwhile are passed over.
    func apply(_ change: OutboxBuffer.Change) throws(SQLiteError) -> Int {
        var count = 0
        switch change {
        case .sending(let ids):
            for id in ids {
                guard let found = try find(id) else { continue }
                if found.state == .doubt { self.change(lane: found.lane) { $0.doubt += 1 } }
                try set(id, found, to: .sending, addingAttempts: 1)
                count += 1
            }
        case .state(let ids, let state):
            for id in ids {
                guard let found = try find(id), found.state != state, found.state != .untimed else { continue }
                try set(id, found, to: state)
                count += 1
            }
        case .confirmed(let ids):
            for id in ids {
                guard let found = try find(id) else {
                    if isSalvaging { try noteConfirmed(id) }
                    continue
                }
                try remove(id, found)
                self.change(lane: found.lane) { $0.confirmed += 1 }
                count += 1
            }
        case .evicted(let ids, let cause):
            for id in ids {
                guard let found = try find(id) else { continue }
                try evict(id, found, cause)
                count += 1
            }
        case .refused(let ids, let reason):
            for id in ids where try refuse(id, reason) { count += 1 }
        }
        return count
    }

    func evict(_ id: Int64, _ found: Found, _ cause: EvictionCause) throws(SQLiteError) {
        try remove(id, found)
        change(lane: found.lane) { $0.evicted[cause.code] += 1 }
    }

    /// Moves a point to the dead letters; false when it has gone.
    func refuse(_ id: Int64, _ reason: String) throws(SQLiteError) -> Bool {
        guard let found = try find(id) else { return false }
        let columns = OutboxSchema.pointColumns
        try connection.run(
            "INSERT OR REPLACE INTO dead(\(columns), reason) SELECT \(columns), ? FROM points WHERE id = ?",
            .text(reason),
            .integer(id)
        )
        try remove(id, found)
        change(lane: found.lane) { $0.refused += 1 }
        return true
    }

    /// Makes a dead letter a point again, at its old place; false when it is not there or its time is not known.
    func revive(_ id: Int64) throws(SQLiteError) -> Bool {
        var row: PointRow?
        try connection.run(
            "SELECT \(OutboxSchema.pointColumns) FROM dead WHERE id = ? AND state <> ?",
            .integer(id),
            .integer(Int64(PointState.untimed.code))
        ) { statement in row = PointRow(statement) }
        guard var row else { return false }
        row.state = .waiting
        try connection.run("DELETE FROM dead WHERE id = ?", .integer(id))
        guard try insert(row) else { return false }
        change(lane: index(of: Lane.Key(feed: row.feed, priority: row.priority))) { $0.refused -= 1 }
        return true
    }

    /// Deletes the oldest dead letters beyond `limit`.
    func trimDeadLetters(to limit: Int) throws(SQLiteError) {
        let count = try connection.value("SELECT count(*) FROM dead")?.integer ?? 0
        guard count > limit else { return }
        try connection.run(
            "DELETE FROM dead WHERE id IN (SELECT id FROM dead ORDER BY id LIMIT ?)",
            .integer(count - Int64(limit))
        )
    }

    /// What was sending when the last process ended may have arrived; what was held was held by that process.
    func takeOver() throws(SQLiteError) -> Int {
        var count = 0
        for lane in lanes {
            for (from, to) in [(PointState.sending, PointState.doubt), (.held, .waiting)] {
                guard lane.tally.rows[from.code] > 0 else { continue }
                var ids: [Int64] = []
                try connection.run(
                    "SELECT id FROM points WHERE lane = ? AND state = ?",
                    .integer(lane.number),
                    .integer(Int64(from.code))
                ) { row in ids.append(row.integer(at: 0)) }
                let changed = try apply(.state(ids, to))
                if to == .doubt { count += changed }
            }
        }
        return count
    }
}
