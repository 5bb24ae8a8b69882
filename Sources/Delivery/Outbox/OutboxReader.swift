// Thread rule: each call opens a read-only connection of its own and closes it, on this actor's thread. So a reader never
// keeps a file that was set aside, and holds nothing open between two pages.

public import DataPoints
public import Diagnostics
internal import SQLite

/// Reads an outbox, whether or not a bridge runs.
public actor OutboxReader {
    /// Where the files are.
    public nonisolated let files: OutboxFiles
    let executor = BlockingExecutor(label: "outbox reader")

    /// The executor with a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a reader of the outbox in the state folder `folder`.
    public init(folder: String) {
        files = OutboxFiles(folder: folder)
    }

    /// The counts as they are on the disk, and the time of the oldest point.
    public func statistics() throws(OutboxError) -> (counts: OutboxStatistics, oldest: Timestamp?) {
        try read { connection throws(SQLiteError) in
            var lanes: [Lane] = []
            try connection.run("SELECT \(OutboxSchema.laneColumns) FROM lanes ORDER BY id") { row in
                if let lane = Lane(row) { lanes.append(lane) }
            }
            let oldest = try connection.value("SELECT created_ns FROM points ORDER BY id LIMIT 1")?.integer
            return (OutboxStatistics(lanes: lanes), oldest.map { Timestamp(nanoseconds: $0) })
        }
    }

    /// Up to `limit` points after the id `after`, in the order of their ids; of one state or feed only, if given.
    public func points(
        in state: PointState? = nil,
        of feed: FeedKey? = nil,
        after id: Int64 = .min,
        limit: Int = 1000
    ) throws(OutboxError) -> [OutboxPoint] {
        try read { connection throws(SQLiteError) in
            var points: [OutboxPoint] = []
            try connection.run(
                """
                SELECT \(OutboxSchema.pointColumns) FROM points
                WHERE id > ? AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR feed = ?3) ORDER BY id LIMIT ?4
                """,
                .integer(id),
                SQLiteValue(state.map { Int64($0.code) }),
                SQLiteValue(feed?.text),
                .integer(Int64(limit))
            ) { statement in
                if let row = PointRow(statement) { points.append(row.outboxPoint) }
            }
            return points
        }
    }

    /// Up to `limit` dead letters after the id `after`, in the order of their ids.
    public func deadLetters(of feed: FeedKey? = nil, after id: Int64 = .min, limit: Int = 1000) throws(OutboxError)
        -> [DeadLetter]
    {
        try read { connection throws(SQLiteError) in
            var letters: [DeadLetter] = []
            try connection.run(
                """
                SELECT \(OutboxSchema.pointColumns), reason FROM dead
                WHERE id > ? AND (?2 IS NULL OR feed = ?2) ORDER BY id LIMIT ?3
                """,
                .integer(id),
                SQLiteValue(feed?.text),
                .integer(Int64(limit))
            ) { statement in
                guard let row = PointRow(statement) else { return }
                letters.append(
                    DeadLetter(
                        id: row.id,
                        point: row.point,
                        attempts: Int(row.attempts),
                        reason: statement.text(at: 14) ?? ""
                    )
                )
            }
            return letters
        }
    }

    private func read<Result>(
        _ body: (borrowing SQLiteConnection) throws(SQLiteError) -> Result
    ) throws(OutboxError) -> Result {
        guard files.exists else { throw .noOutbox(path: files.database) }
        return try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(
                path: files.database,
                mode: .readOnly,
                migrations: OutboxSchema.migrations
            )
            return try body(connection)
        }
    }
}
