internal import Diagnostics
internal import SQLite
internal import Samples

/// How far the salvage of a file that was set aside has come.
struct SalvageStep {
    let path: String
    /// Samples of pages below this number are back.
    var page: Int64
    var found: Int64
    let expected: Int64
}

extension RecordingFile {
    /// Notes that the file at `path` was set aside, and takes over its sessions, marks and counts of drops.
    ///
    /// `known` are the sessions that the writer remembers, for the case that the file does not tell them any more.
    func beginSalvage(of path: String, _ source: DamagedRecording, known: [Span]) throws(SQLiteError) {
        for name in source.salvaged where name != path {
            try connection.run("INSERT OR IGNORE INTO _salvages VALUES(?, 0, 0, 0, 1)", .text(name))
        }
        try connection.run(
            "INSERT OR IGNORE INTO _salvages(path, page, found, expected, is_done) VALUES(?, 0, 0, ?, 0)",
            .text(path),
            .integer(source.expected)
        )
        for (id, values) in source.sessions { try putBack(session: id, values, source) }
        for span in known {
            try connection.run(
                """
                INSERT OR IGNORE INTO _sessions(id, start_ns, end_ns, reason, end_reason, state, host, software)
                VALUES(?, ?, ?, 'error', 'error', 'interrupted', '', '')
                """,
                .integer(span.id),
                .integer(span.start),
                .integer(span.end ?? span.start)
            )
        }
        for values in source.marks {
            let boot = try values[3].integer.map { number throws(SQLiteError) in try self.boot(number, source) }
            try connection.run(
                """
                INSERT INTO _marks(session, time_ns, text, boot) SELECT ?1, ?2, ?3, ?4
                WHERE NOT EXISTS (SELECT 1 FROM _marks WHERE session = ?1 AND time_ns = ?2 AND text = ?3)
                """,
                values[0],
                values[1],
                values[2],
                SQLiteValue(boot)
            )
        }
        for drop in source.drops {
            let table = try salvageTable(source.streams[drop.stream])
            guard let table else { continue }
            additions[Place(stream: table.id, session: drop.session), default: Addition()].drops += Int(drop.count)
        }
    }

    private func putBack(session id: Int64, _ values: [SQLiteValue], _ source: DamagedRecording) throws(SQLiteError) {
        // start, end, reason, end_reason, state, host, software, drops, boot, end_boot
        guard let start = values[0].integer, values[2].text != nil, let state = values[4].text else { return }
        let isOver = state != "running" && values[1].integer != nil
        let boots = try [values[8], values[9]].map { value throws(SQLiteError) in
            try value.integer.map { number throws(SQLiteError) in try boot(number, source) }
        }
        let end = isOver ? values[1] : .integer(start)
        try connection.run(
            """
            INSERT INTO _sessions(id, start_ns, end_ns, reason, end_reason, state, host, software, drops, boot, end_boot)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET end_ns = excluded.end_ns, end_reason = excluded.end_reason,
                state = 'ended', end_boot = excluded.end_boot
            WHERE _sessions.state = 'interrupted' AND excluded.state = 'ended' AND start_ns = excluded.start_ns
            """,
            .integer(id),
            .integer(start),
            end,
            values[2],
            values[3],
            .text(isOver ? state : "interrupted"),
            .text(values[5].text ?? ""),
            .text(values[6].text ?? ""),
            .integer(values[7].integer ?? 0),
            SQLiteValue(boots[0]),
            SQLiteValue(boots[1])
        )
    }

    private func boot(_ number: Int64, _ source: DamagedRecording) throws(SQLiteError) -> Int64 {
        // A boot that nobody can name never comes back: its times stay wrong, and marked.
        try self.number(ofBoot: source.boots[number] ?? "lost \(number)")
    }

    /// A salvage that is not done.
    func unfinishedSalvage() throws(SQLiteError) -> SalvageStep? {
        var step: SalvageStep?
        try connection.run(
            "SELECT path, page, found, expected FROM _salvages WHERE is_done = 0 ORDER BY path LIMIT 1"
        ) { row in
            step = SalvageStep(
                path: row.text(at: 0) ?? "",
                page: row.integer(at: 1),
                found: row.integer(at: 2),
                expected: row.integer(at: 3)
            )
        }
        return step
    }

    /// Notes how far a salvage has come.
    func note(_ step: SalvageStep, isDone: Bool = false) throws(SQLiteError) {
        try connection.run(
            "UPDATE _salvages SET page = ?, found = ?, is_done = ? WHERE path = ?",
            .integer(step.page),
            .integer(step.found),
            .integer(isDone ? 1 : 0),
            .text(step.path)
        )
    }

    /// Puts samples back, each once; says how many were not there.
    func putBack(_ samples: [DamagedRecording.Sample], _ source: DamagedRecording) throws(SQLiteError) -> Int64 {
        var tables: [Int: SalvageTable] = [:]
        var count: Int64 = 0
        for sample in samples {
            if tables[sample.stream] == nil { tables[sample.stream] = try salvageTable(source.streams[sample.stream]) }
            guard let table = tables[sample.stream] else { continue }
            let boot = try sample.boot.map { number throws(SQLiteError) in try self.boot(number, source) }
            let insert = table.insert
            try insert.bind(sample.key, at: 1)
            try insert.bind(SQLiteValue(sample.session), at: 2)
            try insert.bind(SQLiteValue(boot), at: 3)
            try insert.bind(sample.tie == 0 ? .null : .integer(sample.tie), at: 4)
            for place in 0..<table.width {
                try insert.bind(place < sample.values.count ? sample.values[place] : .null, at: place + 5)
            }
            try insert.run()
            // What has the key already is the same sample: found twice, or sent again by who was not told that it is kept.
            guard connection.changes == 1 else { continue }
            count += 1
            let place = Place(
                stream: table.id,
                session: sample.session ?? RecordingSchema.alwaysStore,
                boot: boot ?? RecordingSchema.rightClock
            )
            additions[place, default: Addition()].add(sample.key &- sample.tie)
        }
        return count
    }

    /// Gives sessions whose row was lost, or which were never ended, the span that their samples have.
    func endSalvage() throws(SQLiteError) {
        try connection.execute(
            """
            INSERT OR IGNORE INTO _sessions(id, start_ns, end_ns, reason, end_reason, state, host, software)
            SELECT session, min(first_ns), max(last_ns), 'error', 'error', 'interrupted', '', '' FROM _holdings
            WHERE session > 0 AND samples > 0 GROUP BY session;
            UPDATE _sessions SET end_ns = max(end_ns, coalesce(
                (SELECT max(last_ns) FROM _holdings WHERE session = _sessions.id), end_ns))
            WHERE state = 'interrupted' AND end_ns IS NOT NULL;
            """
        )
    }

    /// The table of a stream that was in a damaged file.
    private struct SalvageTable {
        let id: Int64
        let insert: Statement
        let width: Int
    }

    private func salvageTable(_ stream: DamagedRecording.StoredStream) throws(SQLiteError) -> SalvageTable? {
        let name = stream.name.text
        let existing = try connection.value("SELECT id FROM _streams WHERE name = ?", .text(name))?.integer
        guard let id = existing != nil ? existing : try createTable(for: name) else { return nil }
        let quoted = SQLiteName.quoted(RecordingSchema.tableName(for: name))
        let fields = stream.columns.map { Field($0.field, unit: $0.unit, kind: $0.kind) }
        guard let columns = try columns(for: fields, of: id, in: quoted) else { return nil }
        let names = columns.map { ", \(SQLiteName.quoted($0))" }.joined()
        let marks = String(repeating: ", ?", count: columns.count)
        let insert = try connection.prepare(
            "INSERT OR IGNORE INTO \(quoted)(time_ns, _session, _boot, _tie\(names)) VALUES(?, ?, ?, ?\(marks))"
        )
        return SalvageTable(id: id, insert: insert, width: columns.count)
    }
}
