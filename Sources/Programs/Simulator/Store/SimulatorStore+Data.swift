internal import AdafruitIO
public import DataPoints
public import Diagnostics
internal import SQLite

/// Which of a feed's data points are asked for.
public struct DataQuery: Sendable {
    /// The earliest time.
    public var start: Timestamp?
    /// The latest time.
    public var end: Timestamp?
    /// Only what comes after this point in the list, which is newest first.
    public var before: (createdAt: Int64, sequence: Int64)?
    /// The most points.
    public var limit = 1000

    /// All points.
    public init() {}
}

/// How a reader walks through a feed as through a queue.
public enum QueueStep: Sendable {
    /// The oldest point that was not read; the reader moves to it.
    case next
    /// The point read last; the reader stays.
    case previous
    /// The newest point; the reader moves to it.
    case last
    /// The oldest point; the reader moves to it.
    case first
}

extension SimulatorStore {
    /// Stores a point. It becomes the feed's last value when its time is not before that of the one there, or when
    /// `alwaysLast` says so.
    public func append(
        value: String,
        location: Location?,
        createdAt: Timestamp,
        to feed: StoredFeed,
        alwaysLast: Bool = false
    ) throws(StoreError) -> StoredDatum {
        let now = time.wall().nanoseconds
        return try write { (database) throws(StoreError) in
            try database.run(
                "INSERT INTO data (id, feed, value, lat, lon, ele, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                .text(DatumID.make(at: createdAt)),
                .integer(feed.id),
                .text(value),
                SQLiteValue(location?.latitude),
                SQLiteValue(location?.longitude),
                SQLiteValue(location?.elevation),
                .integer(createdAt.nanoseconds)
            )
            let sequence = database.connection.lastInsertedRow
            try database.run(
                """
                UPDATE feeds SET updated_at = ?1, last = CASE
                    WHEN ?5 OR last IS NULL OR ?3 >= (SELECT created_at FROM data WHERE sequence = last) THEN ?2
                    ELSE last END
                WHERE id = ?4
                """,
                .integer(now),
                .integer(sequence),
                .integer(createdAt.nanoseconds),
                .integer(feed.id),
                .integer(alwaysLast ? 1 : 0)
            )
            if !feed.history {
                try database.run(
                    "DELETE FROM data WHERE feed = ?1 AND sequence IS NOT (SELECT last FROM feeds WHERE id = ?1)",
                    .integer(feed.id)
                )
            } else if sequence % 64 == 0 {
                try database.expire(now)
            }
            guard let stored = try database.datum(sequence: sequence) else {
                // A feed without history kept a newer one.
                return StoredDatum(
                    id: DatumID.make(at: createdAt),
                    value: value,
                    location: location,
                    createdAt: createdAt,
                    sequence: sequence
                )
            }
            return stored
        }
    }

    /// The feed's last value: what `/get` and `data/last` show.
    public func last(_ feed: StoredFeed) throws(StoreError) -> StoredDatum? {
        try read { (database) throws(StoreError) in
            let sql = "SELECT \(StoredDatum.columns) FROM data WHERE sequence = (SELECT last FROM feeds WHERE id = ?)"
            return try database.rows(sql, .integer(feed.id), as: { StoredDatum($0) }).first
        }
    }

    /// A feed's points, newest first.
    public func data(_ feed: StoredFeed, _ query: DataQuery = DataQuery()) throws(StoreError) -> [StoredDatum] {
        try read { (database) throws(StoreError) in
            var conditions = ["feed = ?"]
            var parameters: [SQLiteValue] = [.integer(feed.id)]
            if let start = query.start {
                conditions.append("created_at >= ?")
                parameters.append(.integer(start.nanoseconds))
            }
            if let end = query.end {
                conditions.append("created_at <= ?")
                parameters.append(.integer(end.nanoseconds))
            }
            if let before = query.before {
                conditions.append("(created_at, sequence) < (?, ?)")
                parameters += [.integer(before.createdAt), .integer(before.sequence)]
            }
            parameters.append(.integer(Int64(query.limit)))
            var found: [StoredDatum] = []
            try database.run(
                """
                SELECT \(StoredDatum.columns) FROM data WHERE \(conditions.joined(separator: " AND "))
                ORDER BY created_at DESC, sequence DESC LIMIT ?
                """,
                all: parameters
            ) { found.append(StoredDatum($0)) }
            return found
        }
    }

    /// The number of a feed's points.
    public func count(_ feed: StoredFeed) throws(StoreError) -> Int {
        try read { (database) throws(StoreError) in
            Int(try database.value("SELECT COUNT(*) FROM data WHERE feed = ?", .integer(feed.id))?.integer ?? 0)
        }
    }

    /// The feed's oldest point.
    public func first(_ feed: StoredFeed) throws(StoreError) -> StoredDatum? {
        try read { (database) throws(StoreError) in
            let sql = """
                SELECT \(StoredDatum.columns) FROM data WHERE feed = ? ORDER BY created_at, sequence LIMIT 1
                """
            return try database.rows(sql, .integer(feed.id), as: { StoredDatum($0) }).first
        }
    }

    /// The point with this id.
    public func datum(_ feed: StoredFeed, id: String) throws(StoreError) -> StoredDatum? {
        try read { (database) throws(StoreError) in
            let sql = "SELECT \(StoredDatum.columns) FROM data WHERE feed = ? AND id = ?"
            return try database.rows(sql, .integer(feed.id), .text(id), as: { StoredDatum($0) }).first
        }
    }

    /// Changes a stored point's value and place.
    public func update(_ datum: StoredDatum) throws(StoreError) {
        try write { (database) throws(StoreError) in
            try database.run(
                "UPDATE data SET value = ?, lat = ?, lon = ?, ele = ? WHERE sequence = ?",
                .text(datum.value),
                SQLiteValue(datum.location?.latitude),
                SQLiteValue(datum.location?.longitude),
                SQLiteValue(datum.location?.elevation),
                .integer(datum.sequence)
            )
        }
    }

    /// Deletes a point; when it was the last value, the newest that is left is.
    public func delete(_ datum: StoredDatum, of feed: StoredFeed) throws(StoreError) {
        try write { (database) throws(StoreError) in
            try database.run("DELETE FROM data WHERE sequence = ?", .integer(datum.sequence))
            try database.run(
                """
                UPDATE feeds SET last = (SELECT sequence FROM data WHERE feed = ?1
                    ORDER BY created_at DESC, sequence DESC LIMIT 1) WHERE id = ?1 AND last = ?2
                """,
                .integer(feed.id),
                .integer(datum.sequence)
            )
        }
    }

    /// Walks through the feed as through a queue.
    public func walk(_ feed: StoredFeed, _ step: QueueStep) throws(StoreError) -> StoredDatum? {
        try write { (database) throws(StoreError) in
            let read =
                "(SELECT COALESCE(pointer_time, -9223372036854775808), COALESCE(pointer, -1) FROM feeds WHERE id = ?1)"
            let (condition, order) =
                switch step {
                case .next: ("AND (created_at, sequence) > \(read)", "ASC")
                case .previous: ("AND (created_at, sequence) <= \(read)", "DESC")
                case .last: ("", "DESC")
                case .first: ("", "ASC")
                }
            let sql = """
                SELECT \(StoredDatum.columns) FROM data WHERE feed = ?1 \(condition)
                ORDER BY created_at \(order), sequence \(order) LIMIT 1
                """
            let found = try database.rows(sql, .integer(feed.id), as: { StoredDatum($0) }).first
            if let found, step != .previous {
                try database.run(
                    "UPDATE feeds SET pointer_time = ?, pointer = ? WHERE id = ?",
                    .integer(found.createdAt.nanoseconds),
                    .integer(found.sequence),
                    .integer(feed.id)
                )
            }
            return found
        }
    }
}

extension StoreDatabase {
    borrowing func datum(sequence: Int64) throws(StoreError) -> StoredDatum? {
        let sql = "SELECT \(StoredDatum.columns) FROM data WHERE sequence = ?"
        return try rows(sql, .integer(sequence), as: { StoredDatum($0) }).first
    }

    /// Deletes what is older than the plan of its account keeps. The last value of a feed stays.
    borrowing func expire(_ now: Int64) throws(StoreError) {
        for account in accounts.values {
            try run(
                """
                DELETE FROM data WHERE created_at < ? AND feed IN (SELECT id FROM feeds WHERE account = ?)
                    AND sequence NOT IN (SELECT last FROM feeds WHERE last IS NOT NULL)
                """,
                .integer(now - account.plan.retention.nanoseconds),
                .integer(account.id)
            )
        }
    }
}
