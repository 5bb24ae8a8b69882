internal import CSQLite

/// What SQLite says about a call, by its extended result code.
public struct SQLiteResultCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The extended result code of the C library.
    public let rawValue: Int32

    /// Takes an extended result code.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code, without what the extended one adds.
    public var primary: SQLiteResultCode { SQLiteResultCode(rawValue: rawValue & 0xff) }

    /// No error. The corresponding C code is `SQLITE_OK`.
    public static let ok = SQLiteResultCode(rawValue: SQLITE_OK)
    /// A mistake in a statement, or any other. The corresponding C code is `SQLITE_ERROR`.
    public static let error = SQLiteResultCode(rawValue: SQLITE_ERROR)
    /// Another connection holds the file. The corresponding C code is `SQLITE_BUSY`.
    public static let busy = SQLiteResultCode(rawValue: SQLITE_BUSY)
    /// This connection holds the table. The corresponding C code is `SQLITE_LOCKED`.
    public static let locked = SQLiteResultCode(rawValue: SQLITE_LOCKED)
    /// Out of memory. The corresponding C code is `SQLITE_NOMEM`.
    public static let outOfMemory = SQLiteResultCode(rawValue: SQLITE_NOMEM)
    /// The file may not be written. The corresponding C code is `SQLITE_READONLY`.
    public static let readOnly = SQLiteResultCode(rawValue: SQLITE_READONLY)
    /// The disk failed. The corresponding C code is `SQLITE_IOERR`.
    public static let inputOutput = SQLiteResultCode(rawValue: SQLITE_IOERR)
    /// The file is damaged. The corresponding C code is `SQLITE_CORRUPT`.
    public static let corrupt = SQLiteResultCode(rawValue: SQLITE_CORRUPT)
    /// The disk is full. The corresponding C code is `SQLITE_FULL`.
    public static let full = SQLiteResultCode(rawValue: SQLITE_FULL)
    /// The file cannot be opened. The corresponding C code is `SQLITE_CANTOPEN`.
    public static let cannotOpen = SQLiteResultCode(rawValue: SQLITE_CANTOPEN)
    /// A constraint of a table says no. The corresponding C code is `SQLITE_CONSTRAINT`.
    public static let constraint = SQLiteResultCode(rawValue: SQLITE_CONSTRAINT)
    /// A value has the wrong type. The corresponding C code is `SQLITE_MISMATCH`.
    public static let mismatch = SQLiteResultCode(rawValue: SQLITE_MISMATCH)
    /// The library is used against its rules. The corresponding C code is `SQLITE_MISUSE`.
    public static let misuse = SQLiteResultCode(rawValue: SQLITE_MISUSE)
    /// No such parameter or column. The corresponding C code is `SQLITE_RANGE`.
    public static let range = SQLiteResultCode(rawValue: SQLITE_RANGE)
    /// The file is not a database. The corresponding C code is `SQLITE_NOTADB`.
    public static let notADatabase = SQLiteResultCode(rawValue: SQLITE_NOTADB)

    /// The C library's words for the code.
    public var description: String {
        sqlite3_errstr(rawValue).map { String(cString: $0) } ?? "code \(rawValue)"
    }
}
