internal import Diagnostics
internal import SQLite
internal import Samples

// Reading the service tables, for the writer and for readers alike.

extension SQLiteConnection {
    /// The sessions, the oldest first. Unless `areRunning`, one that the file calls running was left so by a crash.
    borrowing func sessions(areRunning: Bool, only id: Int64? = nil) throws(SQLiteError) -> [Session] {
        var samples: [Int64: [Name: Int]] = [:]
        var dropped: [Int64: [Name: Int]] = [:]
        var last: [Int64: Int64] = [:]
        try run(
            """
            SELECT session, name, sum(samples), sum(drops), max(last_ns) FROM _holdings JOIN _streams ON id = stream
            WHERE session > 0 AND (?1 IS NULL OR session = ?1) GROUP BY session, stream
            """,
            SQLiteValue(id)
        ) { row in
            guard let name = row.text(at: 1).flatMap({ Name($0) }) else { return }
            let session = row.integer(at: 0)
            if row.integer(at: 2) > 0 { samples[session, default: [:]][name] = Int(row.integer(at: 2)) }
            if row.integer(at: 3) > 0 { dropped[session, default: [:]][name] = Int(row.integer(at: 3)) }
            if !row.isNull(at: 4) { last[session] = max(last[session] ?? .min, row.integer(at: 4)) }
        }
        var sessions: [Session] = []
        try run(
            """
            SELECT id, start_ns, end_ns, reason, end_reason, state, host, software, drops, boot FROM _sessions
            WHERE ?1 IS NULL OR id = ?1 ORDER BY start_ns, id
            """,
            SQLiteValue(id)
        ) { row in
            let id = row.integer(at: 0)
            let start = row.integer(at: 1)
            var end = row.isNull(at: 2) ? nil : row.integer(at: 2)
            var state = row.text(at: 5).flatMap { Session.State(rawValue: $0) } ?? .interrupted
            if state == .running, !areRunning {
                state = .interrupted
                end = max(start, last[id] ?? start)
            }
            sessions.append(
                Session(
                    id: id,
                    start: Timestamp(nanoseconds: start),
                    end: end.map { Timestamp(nanoseconds: $0) },
                    reason: row.text(at: 3).flatMap { SessionReason(rawValue: $0) } ?? .error,
                    endReason: row.text(at: 4).flatMap { SessionReason(rawValue: $0) },
                    state: state,
                    host: row.text(at: 6) ?? "",
                    software: row.text(at: 7) ?? "",
                    samples: samples[id] ?? [:],
                    dropped: dropped[id] ?? [:],
                    drops: Int(row.integer(at: 8)),
                    isUnsynchronised: !row.isNull(at: 9)
                )
            )
        }
        return sessions
    }

    /// The streams with their columns, by name; of one session only, if it is given.
    borrowing func streams(inSession session: Int64? = nil) throws(SQLiteError) -> [RecordedStream] {
        var columns: [String: [RecordedColumn]] = [:]
        try run(
            """
            SELECT column_name, _fields.name, unit, kind, _streams.name FROM _fields
            JOIN _streams ON _streams.id = stream ORDER BY stream, position
            """
        ) { row in
            guard let column = RecordedColumn(row), let stream = row.text(at: 4) else { return }
            columns[stream, default: []].append(column)
        }
        var streams: [RecordedStream] = []
        try run(
            """
            SELECT name, sum(samples), min(first_ns), max(last_ns) FROM _streams JOIN _holdings ON stream = id
            WHERE samples > 0 AND (?1 IS NULL OR session = ?1) GROUP BY name ORDER BY name
            """,
            SQLiteValue(session)
        ) { row in
            guard let text = row.text(at: 0), let name = Name(text) else { return }
            streams.append(
                RecordedStream(
                    name: name,
                    columns: columns[text] ?? [],
                    samples: Int(row.integer(at: 1)),
                    first: row.isNull(at: 2) ? nil : Timestamp(nanoseconds: row.integer(at: 2)),
                    last: row.isNull(at: 3) ? nil : Timestamp(nanoseconds: row.integer(at: 3))
                )
            )
        }
        return streams
    }

    /// The marks of a session in the order of time.
    borrowing func marks(inSession session: Int64) throws(SQLiteError) -> [Mark] {
        var marks: [Mark] = []
        try run("SELECT time_ns, text FROM _marks WHERE session = ? ORDER BY time_ns, id", .integer(session)) { row in
            marks.append(Mark(time: Timestamp(nanoseconds: row.integer(at: 0)), text: row.text(at: 1) ?? ""))
        }
        return marks
    }
}
