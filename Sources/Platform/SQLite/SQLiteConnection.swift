// Thread rule: connections are opened with SQLITE_OPEN_NOMUTEX, "multi-thread" mode (https://www.sqlite.org/threadsafe.html):
// "a single database connection and any object derived from it, such as a prepared statement, is not used in two or
// more threads at the same time". One actor, lock or thread owns a connection together with its statements; neither is
// Sendable, so the compiler holds the rule.

internal import CSQLite
internal import Glibc

/// A connection to a database file. Its owner also owns every statement made from it.
///
/// Calls block on the disk: use it on an executor or a thread of its own, never on Swift's cooperative pool.
public struct SQLiteConnection: ~Copyable {
    /// How a file is opened.
    public enum Mode: Sendable {
        /// Read and write; an absent file is made, mode 0600.
        case create
        /// Read and write a file that is there.
        case readWrite
        /// Read only, also while another process writes.
        case readOnly
    }

    /// What a commit promises.
    public enum Durability: String, Sendable, CaseIterable {
        /// On the disk before the commit returns: it survives a power cut.
        case full
        /// Survives the end of the process; a power cut may take the newest commits, never the file.
        case normal
    }

    /// Settings of a connection; the defaults are for a small computer.
    public struct Options: Sendable {
        /// What a commit promises.
        public var durability: Durability = .full
        /// How long a call waits for another connection before it fails with `busy`.
        public var busyTimeout: Duration = .seconds(5)
        /// The most memory for pages of the file, in KiB.
        public var cacheKiB = 512
        /// Whether pages that become free can be given back with `giveBackSpace`. Counts for new files only.
        public var incrementalVacuum = false

        /// Makes the default settings.
        public init() {}
    }

    let handle: OpaquePointer
    /// The path of the file; `:memory:` for a database in memory.
    public let path: String

    /// Opens the file at `path` in WAL mode and brings its schema to the newest of `migrations`.
    ///
    /// A file whose version is newer than the migrations known is refused, and neither it nor its log is changed.
    public init(
        path: String,
        mode: Mode = .create,
        options: Options = Options(),
        migrations: [Migration] = []
    ) throws(SQLiteError) {
        if mode != .readOnly { try SQLiteConnection.refuseFragment(path) }
        if !migrations.isEmpty, mode != .readOnly { try SQLiteConnection.refuseNewer(path, migrations) }
        let made = try SQLiteConnection(opening: path, mode: mode)
        try made.configure(mode, options)
        if mode == .readOnly {
            if !migrations.isEmpty { try made.checkVersion(known: migrations.count) }
        } else {
            try made.migrate(migrations)
        }
        self = made
    }

    /// Opens a database in memory that goes away with the connection.
    public static func inMemory(migrations: [Migration] = []) throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: ":memory:", migrations: migrations)
    }

    private init(opening path: String, mode: Mode) throws(SQLiteError) {
        if mode == .create, path != ":memory:" {
            // SQLite gives the log and its index the mode of the file, so one private file makes three.
            // Only one that is not there yet: closing any descriptor of a file releases all locks that this process has on
            // it (https://www.sqlite.org/howtocorrupt.html, 2.2), and another connection may hold some.
            let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
            if descriptor >= 0 { close(descriptor) }
        }
        let flags =
            switch mode {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        var made: OpaquePointer?
        let code = sqlite3_open_v2(path, &made, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let made else {
            // "Whether or not an error occurs when it is opened, resources associated with the connection should be
            // released by passing it to sqlite3_close()" (sqlite3.h).
            let error = sqliteError(code, on: made, "open \(path)")
            sqlite3_close_v2(made)
            throw error
        }
        handle = made
        self.path = path
    }

    deinit {
        // With v2 a statement that outlives the connection stays valid, and the file closes with the last of them.
        sqlite3_close_v2(handle)
    }

    private borrowing func configure(_ mode: Mode, _ options: Options) throws(SQLiteError) {
        sqlite3_busy_timeout(
            handle,
            Int32(
                clamping: options.busyTimeout.components.seconds * 1000
                    + options.busyTimeout.components.attoseconds / 1_000_000_000_000_000
            )
        )
        // The schema of a damaged or planted file runs nothing.
        try execute("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cache_size = -\(options.cacheKiB)")
        guard mode != .readOnly else { return }
        // Only before the first table is made; without effect in an older file.
        if options.incrementalVacuum { try execute("PRAGMA auto_vacuum = INCREMENTAL") }
        // A log that a long reader let grow is cut again when it has been moved into the file.
        try execute("PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 16777216")
        try setDurability(options.durability)
    }

    /// Sets what the commits from now on promise. Not within a transaction.
    public borrowing func setDurability(_ durability: Durability) throws(SQLiteError) {
        try execute("PRAGMA synchronous = \(durability.rawValue)")
    }

    /// Runs statements that answer nothing; they are separated by semicolons.
    public borrowing func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw sqliteError(code, on: handle, "run `\(sql.prefix(200))` in \(path)") }
    }

    /// Prepares a statement. Keep what is used often.
    public borrowing func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var made: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK else { throw sqliteError(code, on: handle, "prepare `\(sql.prefix(200))` in \(path)") }
        guard let made else {
            throw SQLiteError(code: .misuse, message: "there is no statement in it", action: "prepare an empty text")
        }
        return Statement(handle: made, connection: handle, path: path)
    }

    /// Runs one statement with parameters and passes each row to `row`.
    public borrowing func run(
        _ sql: String,
        _ parameters: SQLiteValue...,
        row: (Statement) throws(SQLiteError) -> Void = { _ in }
    ) throws(SQLiteError) {
        let statement = try prepare(sql)
        for (index, value) in parameters.enumerated() { try statement.bind(value, at: index + 1) }
        while try statement.step() { try row(statement) }
    }

    /// The first value of the first row that a statement answers, or nil when there is no row.
    public borrowing func value(_ sql: String, _ parameters: SQLiteValue...) throws(SQLiteError) -> SQLiteValue? {
        let statement = try prepare(sql)
        for (index, value) in parameters.enumerated() { try statement.bind(value, at: index + 1) }
        guard try statement.step() else { return nil }
        let value = statement.value(at: 0)
        statement.reset()
        return value
    }

    /// The row id of the newest row that this connection inserted.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of rows that the newest INSERT, UPDATE or DELETE changed.
    public var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Whether a transaction is open.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}
