internal import CSQLite

extension SQLiteConnection {
    /// When a transaction takes its lock.
    public enum TransactionKind: String, Sendable {
        /// Takes the right to write at once, so that it cannot fail half-way because another writer came first.
        case immediate
        /// Takes locks as they are needed: for reading.
        case deferred
    }

    /// Runs `body` in a transaction: all of it is kept, or nothing when `body` or the commit throws.
    public borrowing func withTransaction<Result>(
        _ kind: TransactionKind = .immediate,
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try execute("BEGIN \(kind.rawValue)")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // A full disk or a damaged file may have rolled back by itself.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
