internal import SQLite
internal import Samples

/// Steps through the samples of a stream in the order of time.
///
/// Columns of the statement: the exact time, the key, then the stream's columns.
final class SampleCursor {
    let name: String
    let columns: [RecordedColumn]
    private let statement: Statement
    private(set) var isAtEnd = false

    /// The first of the statement's columns that holds a value.
    static let firstValue = 2

    /// Samples with keys from `first` to `last`: of one session, or of all and the always store when it is nil.
    init(
        _ stream: RecordedStream,
        on connection: borrowing SQLiteConnection,
        from first: Int64,
        to last: Int64,
        session: Int64?,
        limit: Int? = nil
    ) throws(SQLiteError) {
        name = stream.name.text
        columns = stream.columns
        let table = SQLiteName.quoted(RecordingSchema.tableName(for: name))
        let list = columns.map { ", \(SQLiteName.quoted($0.name))" }.joined()
        statement = try connection.prepare(
            """
            SELECT time_ns - coalesce(_tie, 0), time_ns\(list) FROM \(table)
            WHERE time_ns BETWEEN ?1 AND ?2\(session == nil ? "" : " AND _session = ?3")
            ORDER BY time_ns\(limit.map { " LIMIT \($0)" } ?? "")
            """
        )
        try statement.bind(first, at: 1)
        try statement.bind(last, at: 2)
        if let session { try statement.bind(session, at: 3) }
    }

    /// The marks of a session as if they were a stream with one text.
    init(marksOf session: Int64, on connection: borrowing SQLiteConnection) throws(SQLiteError) {
        name = "_marks"
        columns = [RecordedColumn(name: "text", field: Name(mapping: "text"), unit: .none, kind: .text)]
        statement = try connection.prepare(
            "SELECT time_ns, id, text FROM _marks WHERE session = ? ORDER BY time_ns, id"
        )
        try statement.bind(session, at: 1)
    }

    /// Goes to the next sample; false when there is none.
    func next() throws(SQLiteError) -> Bool {
        guard !isAtEnd else { return false }
        let found = try statement.step()
        isAtEnd = !found
        return found
    }

    /// The exact time of the sample.
    var time: Int64 { statement.integer(at: 0) }

    /// The key of the sample: its time, or a few nanoseconds later when several have one time.
    var key: Int64 { statement.integer(at: 1) }

    /// The row, whose values begin at `firstValue`.
    var row: Statement { statement }

    /// The value in a column; `missing` when nothing is there.
    func value(at column: Int) -> Value {
        let place = column + SampleCursor.firstValue
        guard !statement.isNull(at: place) else { return .missing }
        switch columns[column].kind {
        case .real: return Value(statement.real(at: place))
        case .integer: return .integer(statement.integer(at: place))
        case .flag: return .flag(statement.integer(at: place) != 0)
        case .text: return .text(statement.text(at: place) ?? "")
        }
    }
}
