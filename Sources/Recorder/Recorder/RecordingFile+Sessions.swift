internal import SQLite
internal import Samples

extension RecordingFile {
    /// Begins a session at `start`. `boot` is given while the wall clock is not right.
    func startSession(
        at start: Int64,
        reason: SessionReason,
        host: String,
        software: String,
        boot: Int64?
    ) throws(SQLiteError) -> Int64 {
        try connection.run(
            "INSERT INTO _sessions(start_ns, reason, state, host, software, boot) VALUES(?, ?, 'running', ?, ?, ?)",
            .integer(start),
            .text(reason.rawValue),
            .text(host),
            .text(software),
            SQLiteValue(boot)
        )
        let id = connection.lastInsertedRow
        let place = spans.lastIndex { $0.start <= start }.map { $0 + 1 } ?? 0
        spans.insert(Span(id: id, start: start, end: nil), at: place)
        return id
    }

    /// Ends the session that runs, and says which it was.
    func stopSession(at end: Int64, reason: SessionReason, boot: Int64?) throws(SQLiteError) -> Int64? {
        guard let index = spans.lastIndex(where: { $0.end == nil }) else { return nil }
        let span = spans[index]
        let end = max(end, span.start)
        try connection.run(
            "UPDATE _sessions SET end_ns = ?, end_reason = ?, end_boot = ?, state = 'ended' WHERE id = ?",
            .integer(end),
            .text(reason.rawValue),
            SQLiteValue(boot),
            .integer(span.id)
        )
        spans[index].end = end
        return span.id
    }

    /// Puts a remark into the session.
    func addMark(_ text: String, at time: Int64, session: Int64, boot: Int64?) throws(SQLiteError) {
        try connection.run(
            "INSERT INTO _marks(session, time_ns, text, boot) VALUES(?, ?, ?, ?)",
            .integer(session),
            .integer(time),
            .text(text),
            SQLiteValue(boot)
        )
    }

    /// Marks what a process left running as interrupted, its end at its newest sample; says how many there were.
    func interruptUnfinished() throws(SQLiteError) -> Int {
        let count = try commit { () throws(SQLiteError) -> Int in
            try connection.run(
                """
                UPDATE _sessions SET state = 'interrupted', end_ns = max(start_ns, coalesce(
                    (SELECT max(last_ns) FROM _holdings WHERE session = _sessions.id), start_ns))
                WHERE state = 'running'
                """
            )
            return connection.changes
        }
        if count > 0 { try reload() }
        return count
    }

    /// Writes a session that ran when the file before this one was set aside, with its number and its start.
    func adopt(_ session: Span, reason: SessionReason, host: String, software: String) throws(SQLiteError) {
        try commit { () throws(SQLiteError) in
            try connection.run(
                "INSERT INTO _sessions(id, start_ns, reason, state, host, software) VALUES(?, ?, ?, 'running', ?, ?)",
                .integer(session.id),
                .integer(session.start),
                .text(reason.rawValue),
                .text(host),
                .text(software)
            )
        }
        try reload()
    }
}

// MARK: Imports

extension RecordingFile {
    /// What the session `id` is doing; nil when there is none.
    func state(ofSession id: Int64) throws(SQLiteError) -> Session.State? {
        try connection.value("SELECT state FROM _sessions WHERE id = ?", .integer(id))?.text
            .flatMap { Session.State(rawValue: $0) }
    }

    /// Whether `id` is the session of an import that has not ended.
    func isImport(_ id: Int64) throws(SQLiteError) -> Bool {
        let sql = "SELECT 1 FROM _sessions WHERE id = ? AND reason = 'import' AND state = 'running'"
        return try connection.value(sql, .integer(id)) != nil
    }

    func beginImport(at now: Int64, host: String, software: String) throws(SQLiteError) -> Int64 {
        try connection.run(
            "INSERT INTO _sessions(start_ns, reason, state, host, software) VALUES(?, 'import', 'running', ?, ?)",
            .integer(now),
            .text(host),
            .text(software)
        )
        return connection.lastInsertedRow
    }

    func endImport(_ id: Int64) throws(SQLiteError) {
        try connection.run(
            """
            UPDATE _sessions SET state = 'ended', end_reason = 'import',
                start_ns = (SELECT min(first_ns) FROM _holdings WHERE session = ?1),
                end_ns = (SELECT max(last_ns) FROM _holdings WHERE session = ?1)
            WHERE id = ?1 AND EXISTS(SELECT 1 FROM _holdings WHERE session = ?1 AND samples > 0)
            """,
            .integer(id)
        )
        if connection.changes == 0 { try connection.run("DELETE FROM _sessions WHERE id = ?", .integer(id)) }
    }
}
