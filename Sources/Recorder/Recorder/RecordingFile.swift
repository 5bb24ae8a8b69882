internal import Glibc
internal import SQLite
internal import Samples

/// The database as its one writer sees it. Belongs to the recorder's executor.
///
/// What it remembers beside the database is only there to be fast, and `reload` makes it anew after a roll-back.
final class RecordingFile {
    /// From when to when a session goes.
    struct Span {
        let id: Int64
        let start: Int64
        var end: Int64?
    }

    /// What one commit adds to a stream in a session.
    struct Addition {
        var samples = 0
        var drops = 0
        var first = Int64.max
        var last = Int64.min

        mutating func add(_ time: Int64) {
            samples += 1
            if time < first { first = time }
            if time > last { last = time }
        }
    }

    struct Place: Hashable {
        let stream: Int64
        let session: Int64
        var boot = RecordingSchema.rightClock
    }

    let connection: SQLiteConnection
    var tables: [Name: StreamTable] = [:]
    /// The span of every session that was recorded here, the latest start last.
    var spans: [Span] = []
    var additions: [Place: Addition] = [:]
    /// The additions to the place that came last, apart from the others: small batches come in rows.
    var newest = (place: Place(stream: 0, session: 0), addition: Addition())
    /// The table that was used last.
    var newestTable: StreamTable?
    var bootNumbers: [String: Int64] = [:]

    /// The session that runs.
    var running: Span? { spans.last { $0.end == nil } }

    init(path: String) throws(SQLiteError) {
        var options = SQLiteConnection.Options()
        options.durability = .normal
        options.incrementalVacuum = true
        options.cacheKiB = 1024
        connection = try SQLiteConnection(path: path, options: options, migrations: RecordingSchema.migrations)
        try reload()
    }

    /// Forgets what is not in the database.
    func reload() throws(SQLiteError) {
        tables = [:]
        additions = [:]
        newest.addition = Addition()
        newestTable = nil
        bootNumbers = [:]
        spans = []
        // What was imported has a span of its own making: no sample that comes now belongs there.
        let sessions = "SELECT id, start_ns, end_ns FROM _sessions WHERE reason != 'import' ORDER BY start_ns, id"
        try connection.run(sessions) { row in
            let end = row.isNull(at: 2) ? nil : row.integer(at: 2)
            spans.append(Span(id: row.integer(at: 0), start: row.integer(at: 1), end: end))
        }
    }

    /// Runs `body` and commits what it did. The end of this process does not undo it; a power cut may, until `syncLog`.
    func commit<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        do {
            return try connection.withTransaction { () throws(SQLiteError) in
                let result = try body()
                try writeAdditions()
                return result
            }
        } catch {
            try? reload()
            throw error
        }
    }

    /// Waits until all commits up to now are on the disk.
    ///
    /// It syncs the log by a descriptor of its own: SQLite holds no locks on that file, so closing it releases none.
    func syncLog() throws(SQLiteError) {
        let path = "\(connection.path)-wal"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        // Without a log all of it is in the database, which a checkpoint syncs.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fdatasync(descriptor) != 0 else { return }
        let code = errno
        throw SQLiteError(
            code: .inputOutput,
            message: "the log cannot be synced",
            action: "write to \(path)",
            systemError: code
        )
    }

    private func writeAdditions() throws(SQLiteError) {
        flushNewest()
        guard !additions.isEmpty else { return }
        let upsert = try connection.prepare(
            """
            INSERT INTO _holdings(stream, session, boot, samples, drops, first_ns, last_ns) VALUES(?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(stream, session, boot) DO UPDATE SET samples = samples + excluded.samples,
                drops = drops + excluded.drops,
                first_ns = min(coalesce(first_ns, excluded.first_ns), coalesce(excluded.first_ns, first_ns)),
                last_ns = max(coalesce(last_ns, excluded.last_ns), coalesce(excluded.last_ns, last_ns))
            """
        )
        for (place, addition) in additions {
            try upsert.run(
                .integer(place.stream),
                .integer(place.session),
                .integer(place.boot),
                .integer(Int64(addition.samples)),
                .integer(Int64(addition.drops)),
                addition.samples == 0 ? .null : .integer(addition.first),
                addition.samples == 0 ? .null : .integer(addition.last)
            )
        }
        additions.removeAll(keepingCapacity: true)
    }

    /// The number under which a boot stands in the file.
    func number(ofBoot id: String) throws(SQLiteError) -> Int64 {
        if let known = bootNumbers[id] { return known }
        try connection.run("INSERT OR IGNORE INTO _boots(boot_id) VALUES(?)", .text(id))
        let number = try connection.value("SELECT id FROM _boots WHERE boot_id = ?", .text(id))?.integer ?? 0
        bootNumbers[id] = number
        return number
    }
}
