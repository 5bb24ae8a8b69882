internal import CSQLite
internal import Glibc

/// Why a call to SQLite failed: the code, the library's sentence, and what was being done.
public struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code.
    public let code: SQLiteResultCode
    /// The library's sentence.
    public let message: String
    /// What was being done, on what: "open /var/lib/feedbridge/outbox.sqlite".
    public let action: String
    /// The `errno` behind the code, or 0.
    public let systemError: Int32
    /// The schema version found and the newest one known, when the file is of a newer program.
    public let newerSchema: NewerSchema?

    /// A file that a newer program has written.
    public struct NewerSchema: Sendable, Hashable {
        /// The version that the file has.
        public let found: Int
        /// The newest version that this program knows.
        public let known: Int
    }

    /// Makes an error.
    public init(
        code: SQLiteResultCode,
        message: String,
        action: String,
        systemError: Int32 = 0,
        newerSchema: NewerSchema? = nil
    ) {
        self.code = code
        self.message = message
        self.action = action
        self.systemError = systemError
        self.newerSchema = newerSchema
    }

    /// Whether the same call may succeed later, when another connection is done.
    public var isRetriable: Bool {
        code.primary == .busy || code.primary == .locked
    }

    /// Whether the file is damaged or no database at all.
    public var isCorrupt: Bool {
        code.primary == .corrupt || code.primary == .notADatabase
    }

    /// Whether there is no room left on the disk, or the quota is used up.
    public var isFull: Bool {
        code.primary == .full || (code.primary == .inputOutput && (systemError == ENOSPC || systemError == EDQUOT))
    }

    /// Whether the disk or the rights to it stand in the way: it may go away with no change to the data.
    public var isEnvironmental: Bool {
        switch code.primary {
        case .full, .inputOutput, .cannotOpen, .readOnly, .outOfMemory: true
        default: isRetriable
        }
    }

    /// What failed, on what, why, and what to do. Safe to log: it holds no bound value.
    public var description: String {
        if let newerSchema {
            return "Cannot \(action): it has schema version \(newerSchema.found) and this program knows versions up to "
                + "\(newerSchema.known). Use the newer program, or set the file aside."
        }
        return "Cannot \(action): \(reason)"
    }

    private var reason: String {
        if isFull { return "the disk is full. Free space, or use another folder." }
        if isCorrupt {
            return "the file is damaged (\(message)). Set it aside; `sqlite3 FILE .recover` may save a part."
        }
        let detail = systemError == 0 ? "" : ", \(String(cString: strerror(systemError)))"
        switch code.primary {
        case .busy: return "another process holds the file. Wait for it, or stop it."
        case .readOnly: return "the file may not be written (\(message)\(detail)). Check its owner and mode."
        case .cannotOpen: return "the file cannot be opened\(detail). Check that its folder exists and may be written."
        default: return "\(message) (code \(code.rawValue)\(detail))."
        }
    }
}

/// Makes the error of `handle`'s last call.
///
/// `sqlite3_errmsg` speaks of the most recent call on the connection (sqlite3.h), so nothing may come in between.
func sqliteError(_ code: Int32, on handle: OpaquePointer?, _ action: @autoclosure () -> String) -> SQLiteError {
    guard let handle else {
        return SQLiteError(
            code: SQLiteResultCode(rawValue: code),
            message: String(cString: sqlite3_errstr(code)),
            action: action()
        )
    }
    let extended = sqlite3_extended_errcode(handle)
    let current = extended & 0xff == code & 0xff ? extended : code
    // SQLITE_IOERR and SQLITE_CANTOPEN alone say that the errno is theirs (sqlite3_system_errno).
    let fromSystem = code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_CANTOPEN
    return SQLiteError(
        code: SQLiteResultCode(rawValue: current),
        message: String(cString: sqlite3_errmsg(handle)),
        action: action(),
        systemError: fromSystem ? sqlite3_system_errno(handle) : 0
    )
}
