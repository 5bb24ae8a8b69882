internal import CSQLite

extension SQLiteConnection {
    /// How large a database is.
    public struct Size: Sendable, Hashable {
        /// Bytes of a page.
        public let pageBytes: Int
        /// Pages of the file, free ones included.
        public let pages: Int
        /// Pages that hold nothing.
        public let freePages: Int

        /// Bytes of the file.
        public var bytes: Int { pages * pageBytes }
        /// Bytes that hold something.
        public var usedBytes: Int { (pages - freePages) * pageBytes }
    }

    /// How thorough an integrity check is.
    public enum Check: String, Sendable {
        /// Structure only: time grows with the size of the file.
        case quick = "quick_check"
        /// Structure, and each index against its table.
        case full = "integrity_check"
    }

    /// The size as this connection sees it.
    public borrowing func size() throws(SQLiteError) -> Size {
        Size(
            pageBytes: Int(try value("PRAGMA page_size")?.integer ?? 0),
            pages: Int(try value("PRAGMA page_count")?.integer ?? 0),
            freePages: Int(try value("PRAGMA freelist_count")?.integer ?? 0)
        )
    }

    /// What is wrong with the file, in the library's words; empty when nothing is.
    public borrowing func integrityProblems(_ check: Check = .quick, atMost limit: Int = 20) throws(SQLiteError)
        -> [String]
    {
        var problems: [String] = []
        do {
            try run("PRAGMA \(check.rawValue)(\(limit))") { row in
                if let text = row.text(at: 0), text != "ok" { problems.append(text) }
            }
        } catch {
            guard error.isCorrupt else { throw error }
            problems.append(error.message)
        }
        return problems
    }

    /// Gives up to `pages` free pages back to the disk; needs a file made with `incrementalVacuum`.
    public borrowing func giveBackSpace(pages: Int) throws(SQLiteError) {
        try run("PRAGMA incremental_vacuum(\(pages))")
    }

    /// Moves the log into the file and, when nobody reads from it, cuts it to nothing; says whether all was moved.
    @discardableResult
    public borrowing func checkpoint() throws(SQLiteError) -> Bool {
        var busy = true
        try run("PRAGMA wal_checkpoint(TRUNCATE)") { row in busy = row.integer(at: 0) != 0 }
        return !busy
    }
}
