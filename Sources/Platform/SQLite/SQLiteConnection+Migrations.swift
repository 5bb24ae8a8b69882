internal import CSQLite
internal import Glibc

/// One step of a schema's history. Steps are only ever added; `user_version` counts those that a file has seen.
public struct Migration: Sendable {
    let body: @Sendable (borrowing SQLiteConnection) throws(SQLiteError) -> Void

    /// A step in SQL.
    public init(_ sql: String) {
        body = { connection throws(SQLiteError) in try connection.execute(sql) }
    }

    /// A step that needs more than SQL. It runs within a transaction.
    public init(_ body: @escaping @Sendable (borrowing SQLiteConnection) throws(SQLiteError) -> Void) {
        self.body = body
    }
}

extension SQLiteConnection {
    /// The schema version that the file carries.
    public borrowing func schemaVersion() throws(SQLiteError) -> Int {
        Int(try value("PRAGMA user_version")?.integer ?? 0)
    }

    /// Runs the steps that the file has not seen, all in one transaction.
    borrowing func migrate(_ migrations: [Migration]) throws(SQLiteError) {
        guard !migrations.isEmpty, try schemaVersion() < migrations.count else { return }
        try withTransaction { () throws(SQLiteError) in
            // Read again under the lock: another process may have been first.
            let version = try schemaVersion()
            for migration in migrations.dropFirst(version) { try migration.body(self) }
            try execute("PRAGMA user_version = \(migrations.count)")
        }
    }

    borrowing func checkVersion(known: Int) throws(SQLiteError) {
        let found = try schemaVersion()
        guard found > known else { return }
        throw SQLiteError(
            code: .error,
            message: "schema version \(found) is newer than \(known)",
            action: "open \(path)",
            newerSchema: SQLiteError.NewerSchema(found: found, known: known)
        )
    }

    /// A file that is shorter than its first page SQLite takes for an empty one, and writes over what is left of it.
    ///
    /// Its size alone tells: closing a descriptor of it would release the locks of other connections. Files of ours have
    /// pages of the default size.
    static func refuseFragment(_ path: String) throws(SQLiteError) {
        var status = stat()
        guard path != ":memory:", stat(path, &status) == 0, status.st_size > 0, status.st_size < 4096 else { return }
        throw SQLiteError(
            code: .notADatabase,
            message: "only a part of its first page is there",
            action: "open \(path)"
        )
    }

    /// Looks at the version through a read-only connection, which changes neither the file nor its log.
    static func refuseNewer(_ path: String, _ migrations: [Migration]) throws(SQLiteError) {
        var status = stat()
        guard path != ":memory:", stat(path, &status) == 0, status.st_size > 0 else { return }
        let reader = try SQLiteConnection(path: path, mode: .readOnly)
        try reader.checkVersion(known: migrations.count)
    }
}
