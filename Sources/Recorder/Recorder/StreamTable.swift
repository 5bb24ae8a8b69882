internal import SQLite
internal import Samples

/// A stream's table, with the statement that inserts samples of the stream's present fields.
final class StreamTable {
    let id: Int64
    let stream: Stream
    let quotedName: String
    /// Parameters: time, session, boot, tie, then the fields.
    let insert: Statement
    /// Neighbouring keys that are known to be taken, so that many samples with one time do not search from the start each.
    var taken: ClosedRange<Int64>?
    /// The values of parameters 2 and 3 as they are bound now.
    var boundSession: Int64?
    var boundBoot: Int64?

    init(id: Int64, stream: Stream, quotedName: String, insert: Statement) {
        self.id = id
        self.stream = stream
        self.quotedName = quotedName
        self.insert = insert
    }
}

extension RecordingFile {
    /// The table for the stream, made or widened when needed; nil when the limits refuse it.
    func table(for stream: Stream) throws(SQLiteError) -> StreamTable? {
        if let newestTable, newestTable.stream == stream { return newestTable }
        if let known = tables[stream.name], known.stream == stream {
            newestTable = known
            return known
        }
        let name = stream.name.text
        let existing = try connection.value("SELECT id FROM _streams WHERE name = ?", .text(name))?.integer
        // `??` would make its right side throw any error.
        guard let id = existing != nil ? existing : try createTable(for: name) else { return nil }
        let quoted = SQLiteName.quoted(RecordingSchema.tableName(for: name))
        guard let columns = try columns(for: stream.fields, of: id, in: quoted) else { return nil }

        let names = columns.map { SQLiteName.quoted($0) }.joined(separator: ", ")
        let marks = String(repeating: ", ?", count: columns.count)
        let insert = try connection.prepare(
            "INSERT OR IGNORE INTO \(quoted)(time_ns, _session, _boot, _tie, \(names)) VALUES(?, ?, ?, ?\(marks))"
        )
        let table = StreamTable(id: id, stream: stream, quotedName: quoted, insert: insert)
        tables[stream.name] = table
        newestTable = table
        return table
    }

    func createTable(for name: String) throws(SQLiteError) -> Int64? {
        let count = try connection.value("SELECT count(*) FROM _streams")?.integer ?? 0
        guard count < RecordingLimits.streams else { return nil }
        let table = RecordingSchema.tableName(for: name)
        try connection.execute(
            "CREATE TABLE \(SQLiteName.quoted(table))"
                + "(time_ns INTEGER PRIMARY KEY, _session INTEGER, _boot INTEGER, _tie INTEGER)"
        )
        try connection.run("INSERT INTO _streams(name, table_name) VALUES(?, ?)", .text(name), .text(table))
        let id = connection.lastInsertedRow
        try copySchema()
        return id
    }

    /// Copies the schema anew, after a table was made or dropped: their roots may have moved.
    func copySchema() throws(SQLiteError) {
        try connection.execute(
            """
            DELETE FROM _schema;
            INSERT INTO _schema SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'table';
            """
        )
    }

    /// The columns of the fields, in their order. A field whose unit or kind is new gets a new column: the old column
    /// keeps the old values.
    func columns(for fields: [Field], of stream: Int64, in table: String) throws(SQLiteError) -> [String]? {
        var known: [RecordedColumn] = []
        try connection.run(
            "SELECT column_name, name, unit, kind FROM _fields WHERE stream = ? ORDER BY position",
            .integer(stream)
        ) { row in
            if let column = RecordedColumn(row) { known.append(column) }
        }
        var taken = Set(known.map(\.name))
        var columns: [String] = []
        for field in fields {
            let same = known.last { $0.field == field.name && $0.unit == field.unit && $0.kind == field.kind }
            // A stream that names a field twice gets a column for each.
            if let same, !columns.contains(same.name) {
                columns.append(same.name)
                continue
            }
            guard taken.count < RecordingLimits.columns else { return nil }
            let column = RecordingSchema.columnName(for: field.name.text, taken: taken)
            let type =
                switch field.kind {
                case .real: "REAL"
                case .integer, .flag: "INTEGER"
                case .text: "TEXT"
                }
            try connection.execute("ALTER TABLE \(table) ADD COLUMN \(SQLiteName.quoted(column)) \(type)")
            try connection.run(
                "INSERT INTO _fields(stream, position, name, unit, kind, column_name) VALUES(?, ?, ?, ?, ?, ?)",
                .integer(stream),
                .integer(Int64(taken.count)),
                .text(field.name.text),
                .text(field.unit.rawValue),
                .text(field.kind.rawValue),
                .text(column)
            )
            taken.insert(column)
            columns.append(column)
        }
        return columns
    }
}

extension RecordedColumn {
    /// Reads a row of column name, field, unit, kind; nil when something else than this program wrote it.
    init?(_ row: Statement) {
        guard let name = row.text(at: 0), let field = row.text(at: 1).flatMap({ Name($0) }),
            let kind = row.text(at: 3).flatMap({ FieldKind(rawValue: $0) })
        else { return nil }
        self.init(name: name, field: field, unit: Unit(rawValue: row.text(at: 2) ?? ""), kind: kind)
    }
}
