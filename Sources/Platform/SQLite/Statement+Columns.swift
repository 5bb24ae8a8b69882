internal import CSQLite

extension Statement {
    /// What a column of the current row holds.
    public enum ColumnKind: Sendable {
        /// Nothing.
        case null
        /// A whole number.
        case integer
        /// A number.
        case real
        /// A text.
        case text
        /// Bytes.
        case blob
    }

    /// The number of columns of a row.
    public var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// The name of a column.
    public func columnName(at column: Int) -> String {
        sqlite3_column_name(handle, Int32(truncatingIfNeeded: column)).map { String(cString: $0) } ?? ""
    }

    /// What the column holds in this row.
    public func kind(at column: Int) -> ColumnKind {
        switch sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Whether the column holds nothing.
    public func isNull(at column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL
    }

    /// The column as a whole number; 0 for nothing.
    public func integer(at column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(truncatingIfNeeded: column))
    }

    /// The column as a number; 0 for nothing.
    public func real(at column: Int) -> Double {
        sqlite3_column_double(handle, Int32(truncatingIfNeeded: column))
    }

    /// The column as a text; nil for nothing. Bytes that are not UTF-8 are repaired.
    public func text(at column: Int) -> String? {
        isNull(at: column) ? nil : withText(at: column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The column as bytes; empty for nothing.
    public func blob(at column: Int) -> [UInt8] {
        let column = Int32(truncatingIfNeeded: column)
        // "The safest policy is to invoke sqlite3_column_blob() followed by sqlite3_column_bytes()" (sqlite3.h).
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Runs `body` with the UTF-8 bytes of the column, which live only during the call.
    public func withText<Result>(at column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let column = Int32(truncatingIfNeeded: column)
        let start = sqlite3_column_text(handle, column)
        return body(
            UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
        )
    }

    /// The column as it is.
    public func value(at column: Int) -> SQLiteValue {
        switch kind(at: column) {
        case .null: .null
        case .integer: .integer(integer(at: column))
        case .real: .real(real(at: column))
        case .text: .text(text(at: column) ?? "")
        case .blob: .blob(blob(at: column))
        }
    }
}
