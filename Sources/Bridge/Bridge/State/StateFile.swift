internal import SQLite

/// The database of a `KeyValueStore`. Belongs to the store's executor.
final class StateFile {
    private let connection: SQLiteConnection

    private static let migrations = [
        Migration("CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"),
        // SQLite does not notice a flipped bit within a value; older rows have no sum.
        Migration("ALTER TABLE state ADD COLUMN sum INTEGER"),
    ]

    /// Opens or makes the file; one with a row whose sum is wrong is damaged.
    init(path: String) throws(SQLiteError) {
        connection = try SQLiteConnection(path: path, migrations: StateFile.migrations)
        var isWhole = true
        try connection.run("SELECT key, value, sum FROM state") { row in
            guard let key = row.text(at: 0), let value = row.text(at: 1) else {
                isWhole = false
                return
            }
            if !row.isNull(at: 2), row.integer(at: 2) != StateFile.sum(key, value) { isWhole = false }
        }
        guard isWhole else {
            throw SQLiteError(code: .corrupt, message: "a value is not what was written", action: "read \(path)")
        }
    }

    func value(_ key: String) throws(SQLiteError) -> String? {
        try connection.value("SELECT value FROM state WHERE key = ?", .text(key))?.text
    }

    func set(_ values: [String: String]) throws(SQLiteError) {
        try connection.withTransaction { () throws(SQLiteError) in
            for (key, value) in values {
                try connection.run(
                    "INSERT OR REPLACE INTO state(key, value, sum) VALUES (?, ?, ?)",
                    .text(key),
                    .text(value),
                    .integer(StateFile.sum(key, value))
                )
            }
        }
    }

    private static func sum(_ key: String, _ value: String) -> Int64 {
        var sum = FNV()
        sum.add(key)
        sum.add(value)
        return sum.sum
    }

    /// What a damaged file and its log still hold; of a row that stands there twice, the one that the table has.
    static func salvage(_ path: String) -> [String: String] {
        guard let image = DatabaseImage(path: path) else { return [:] }
        var found: [String: String] = [:]
        func take(_ rows: [StoredPage.Row], isOfTable: Bool) {
            for row in rows {
                guard row.values.count == 2 || row.values.count == 3, let key = row.values[0].text,
                    let value = row.values[1].text, found[key] == nil
                else { continue }
                let sum = row.values.count == 3 ? row.values[2].integer : nil
                // A row without a sum is believed only where the table itself leads to it.
                guard sum.map({ $0 == StateFile.sum(key, value) }) ?? isOfTable else { continue }
                found[key] = value
            }
        }
        if let root = image.tables()["state"] { take(image.rows(ofTree: root), isOfTable: true) }
        for number in 1...UInt32(clamping: max(image.count, 1)) where !image.isFree(number) {
            guard image.page(number)?.kind == .indexLeaf else { continue }
            take(image.rows(of: number), isOfTable: false)
        }
        return found
    }
}
