internal import Diagnostics
internal import SQLite

/// Small pieces of state that survive a restart: `state.sqlite`.
///
/// One owner, one executor of its own; each write is committed when the call returns.
actor KeyValueStore {
    private let executor = BlockingExecutor(label: "feedbridge.state")
    private let connection: SQLiteConnection

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens or makes the file.
    init(path: String) throws(SQLiteError) {
        connection = try SQLiteConnection(
            path: path,
            migrations: [Migration("CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")]
        )
    }

    /// The value of `key`.
    func value(_ key: String) throws(SQLiteError) -> String? {
        guard case .text(let text)? = try connection.value("SELECT value FROM state WHERE key = ?", .text(key)) else {
            return nil
        }
        return text
    }

    /// Sets the value of `key`.
    func set(_ key: String, _ value: String) throws(SQLiteError) {
        try connection.run("INSERT OR REPLACE INTO state VALUES (?, ?)", .text(key), .text(value))
    }
}
