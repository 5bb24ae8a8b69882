// Thread rule: the connection and its statements are used only while the lock is held. Calls block on the disk, so they
// are made on the service's own executor and never on Swift's cooperative pool.

public import AdafruitIO
public import Diagnostics
internal import SQLite

/// Accounts, feeds, groups, data points, dashboards and the rest, in SQLite: in memory, or in a file that stays.
public final class SimulatorStore: Sendable {
    private let database: Guarded<StoreDatabase>
    let time: any TimeSource

    /// Opens the store in `file`, or in memory when that is nil.
    public init(file: String? = nil, time: any TimeSource) throws(StoreError) {
        self.time = time
        do throws(SQLiteError) {
            var options = SQLiteConnection.Options()
            options.durability = .normal
            options.cacheKiB = 2048
            let connection = try SQLiteConnection(
                path: file ?? ":memory:",
                options: options,
                migrations: StoreSchema.migrations
            )
            database = Guarded(StoreDatabase(connection: connection))
        } catch {
            throw .database(error)
        }
    }

    /// Makes an account known; what a file holds of it is there again.
    public func addAccount(_ name: String, plan: AdafruitIOPlan) throws(StoreError) {
        let now = time.wall()
        try write { (database) throws(StoreError) in
            try database.run(
                "INSERT INTO accounts (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                .text(name),
                .integer(now.nanoseconds)
            )
            guard let id = try database.value("SELECT id FROM accounts WHERE name = ?", .text(name))?.integer else {
                throw .notFound("account")
            }
            try database.run(
                """
                INSERT INTO groups (account, key, name, created_at, updated_at) VALUES (?, ?, 'Default', ?, ?)
                ON CONFLICT DO NOTHING
                """,
                .integer(id),
                .text(StoredGroup.defaultKey),
                .integer(now.nanoseconds),
                .integer(now.nanoseconds)
            )
            database.accounts[name] = StoreDatabase.Account(id: id, plan: plan)
        }
    }

    /// The number of an account.
    public func accountID(_ name: String) throws(StoreError) -> Int64 {
        try read { (database) throws(StoreError) in try database.account(name).id }
    }

    func read<Result: Sendable>(
        _ body: (borrowing StoreDatabase) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try database.withLock { (database) throws(StoreError) in try body(database) }
    }

    func write<Result: Sendable>(
        _ body: (inout StoreDatabase) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try database.withLock { (database) throws(StoreError) in
            try database.run("BEGIN IMMEDIATE")
            do throws(StoreError) {
                let result = try body(&database)
                try database.run("COMMIT")
                return result
            } catch {
                if database.connection.isInTransaction { try? database.run("ROLLBACK") }
                throw error
            }
        }
    }
}
