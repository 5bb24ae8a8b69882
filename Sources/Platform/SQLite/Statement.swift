// Thread rule: a statement belongs to its connection's owner (see SQLiteConnection).

internal import CSQLite

/// A prepared statement: bind its parameters, step through its rows, read the columns of the row it stands on.
///
/// Parameters count from 1 and columns from 0, as in the C library.
public final class Statement {
    let handle: OpaquePointer
    private let connection: OpaquePointer
    private let path: String

    init(handle: OpaquePointer, connection: OpaquePointer, path: String) {
        self.handle = handle
        self.connection = connection
        self.path = path
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// The SQL text, parameters not filled in.
    public var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// Goes to the next row; false when there is none, and the statement is ready to run again.
    ///
    /// After an error, too, it is ready to run again. Bound values stay.
    public func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let error = failure(code, "run")
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
        return false
    }

    /// Runs a statement to its end, whatever rows it has.
    public func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Makes the statement ready to run again before its last row was read. Bound values stay.
    public func reset() {
        // It repeats the error of the last step, which step() has thrown.
        sqlite3_reset(handle)
    }

    /// Makes every parameter `null`.
    public func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    private func failure(_ code: Int32, _ verb: String) -> SQLiteError {
        sqliteError(code, on: connection, "\(verb) `\(sql.prefix(200))` in \(path)")
    }

    // MARK: Binding

    // Copies the bytes before the call returns; the macro SQLITE_TRANSIENT does not reach Swift.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Binds a number.
    public func bind(_ number: Double, at parameter: Int) throws(SQLiteError) {
        let code = sqlite3_bind_double(handle, Int32(truncatingIfNeeded: parameter), number)
        guard code == SQLITE_OK else { throw failure(code, "bind parameter \(parameter) of") }
    }

    /// Binds a whole number.
    public func bind(_ number: Int64, at parameter: Int) throws(SQLiteError) {
        let code = sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: parameter), number)
        guard code == SQLITE_OK else { throw failure(code, "bind parameter \(parameter) of") }
    }

    /// Binds a whole number.
    public func bind(_ number: Int, at parameter: Int) throws(SQLiteError) {
        try bind(Int64(number), at: parameter)
    }

    /// Binds a text.
    public func bind(_ text: String, at parameter: Int) throws(SQLiteError) {
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                // A null pointer would bind NULL; the address of an empty text does not matter.
                guard let base = bytes.baseAddress else {
                    return sqlite3_bind_text(handle, Int32(truncatingIfNeeded: parameter), "", 0, Statement.transient)
                }
                return sqlite3_bind_text64(
                    handle,
                    Int32(truncatingIfNeeded: parameter),
                    base,
                    UInt64(bytes.count),
                    Statement.transient,
                    UInt8(SQLITE_UTF8)
                )
            }
        }
        guard code == SQLITE_OK else { throw failure(code, "bind parameter \(parameter) of") }
    }

    /// Binds bytes.
    public func bind(_ bytes: [UInt8], at parameter: Int) throws(SQLiteError) {
        let code = bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, !buffer.isEmpty else {
                return sqlite3_bind_zeroblob(handle, Int32(truncatingIfNeeded: parameter), 0)
            }
            return sqlite3_bind_blob64(
                handle,
                Int32(truncatingIfNeeded: parameter),
                base,
                UInt64(buffer.count),
                Statement.transient
            )
        }
        guard code == SQLITE_OK else { throw failure(code, "bind parameter \(parameter) of") }
    }

    /// Binds nothing.
    public func bindNull(at parameter: Int) throws(SQLiteError) {
        let code = sqlite3_bind_null(handle, Int32(truncatingIfNeeded: parameter))
        guard code == SQLITE_OK else { throw failure(code, "bind parameter \(parameter) of") }
    }

    /// Binds any value.
    public func bind(_ value: SQLiteValue, at parameter: Int) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(at: parameter)
        case .integer(let number): try bind(number, at: parameter)
        case .real(let number): try bind(number, at: parameter)
        case .text(let text): try bind(text, at: parameter)
        case .blob(let bytes): try bind(bytes, at: parameter)
        }
    }

    /// Binds all parameters in their order and runs the statement to its end.
    public func run(_ parameters: SQLiteValue...) throws(SQLiteError) {
        for (index, value) in parameters.enumerated() { try bind(value, at: index + 1) }
        try run()
    }
}
