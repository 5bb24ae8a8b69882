internal import DataPoints
internal import SQLite

/// Reads the rows of a damaged database through SQLite itself, past what cannot be read.
struct DamagedRows: ~Copyable {
    private let connection: SQLiteConnection
    private let read: Statement
    /// Whether something could not be read.
    private(set) var hasGaps = false

    /// Opens it read only, so that neither it nor its log changes; nil when SQLite does not take it for a database.
    init?(path: String) {
        guard let opened = try? SQLiteConnection(path: path, mode: .readOnly),
            // Bears a file that is shorter than its header says, and a damaged schema beside our tables.
            (try? opened.execute("PRAGMA writable_schema = ON")) != nil,
            let version = try? opened.schemaVersion(), version <= OutboxSchema.migrations.count,
            let statement = try? opened.prepare(
                "SELECT \(OutboxSchema.pointColumns) FROM points WHERE id > ? ORDER BY id LIMIT ?"
            )
        else { return nil }
        connection = opened
        read = statement
    }

    /// Up to `limit` rows after `id`, and the last id that was passed; nil at the end.
    mutating func page(after id: Int64, limit: Int) -> (rows: [PointRow], last: Int64)? {
        var rows: [PointRow] = []
        var last = id
        do throws(SQLiteError) {
            try read.bind(id, at: 1)
            try read.bind(limit, at: 2)
            while try read.step() {
                last = read.integer(at: 0)
                if let row = PointRow(read) { rows.append(row) } else { hasGaps = true }
            }
            return last == id ? nil : (rows, last)
        } catch {
            read.reset()
            hasGaps = true
            if last > id { return (rows, last) }
            return next(after: id).map { ([], $0) }
        }
    }

    /// The id before the first that can be read beyond a gap: steps as long as the rows of a page at first, then longer.
    private func next(after id: Int64) -> Int64? {
        var step: Int64 = 16
        var place = id
        while place < Int64.max - step {
            place += step
            if step < 1 << 40 { step = place - id < 4096 ? 16 : step * 2 }
            do throws(SQLiteError) {
                try read.bind(place, at: 1)
                try read.bind(1, at: 2)
                defer { read.reset() }
                return try read.step() ? place : nil
            } catch {
                continue
            }
        }
        return nil
    }

    /// The counts that the file had, as far as they can be read.
    func lanes() -> [Lane] {
        var lanes: [Lane] = []
        try? connection.run("SELECT \(OutboxSchema.laneColumns) FROM lanes ORDER BY id") { row in
            if let lane = Lane(row) { lanes.append(lane) }
        }
        return lanes
    }

    /// The boots of the file by their numbers.
    func boots() -> [Int64: String] {
        var boots: [Int64: String] = [:]
        try? connection.run("SELECT id, boot_id FROM boots") { row in boots[row.integer(at: 0)] = row.text(at: 1) }
        return boots
    }

    /// The dead letters, as far as they can be read.
    func deadLetters() -> [(row: PointRow, reason: String)] {
        var letters: [(PointRow, String)] = []
        try? connection.run("SELECT \(OutboxSchema.pointColumns), reason FROM dead ORDER BY id") { statement in
            if let row = PointRow(statement) { letters.append((row, statement.text(at: 14) ?? "")) }
        }
        return letters
    }

    /// An id that the file had not yet given, as far as it says.
    func nextID() -> Int64? {
        let said = try? connection.value("SELECT value FROM facts WHERE name = 'next_id'")?.integer
        let seen = try? connection.value("SELECT max(id) FROM points")?.integer
        return [said, seen.map { $0 + 1 }].compactMap(\.self).max()
    }
}
