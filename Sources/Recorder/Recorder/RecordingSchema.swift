internal import SQLite

// One table a stream, with the stream's name and a column a field with the field's name. What is ours begins with an
// underscore, which no stream's or field's name does.
//
// `time_ns` is the primary key, so a table lies on disk in the order of time and a range of time is one range of pages,
// with no index beside it. Of several samples with one time, the second gets the next free nanosecond, and `_tie` says by
// how much, so that `time_ns - coalesce(_tie, 0)` is the exact time.

enum RecordingSchema {
    static let migrations = [
        Migration(
            """
            CREATE TABLE _sessions(
                id INTEGER PRIMARY KEY AUTOINCREMENT, start_ns INTEGER NOT NULL, end_ns INTEGER, reason TEXT NOT NULL,
                end_reason TEXT, state TEXT NOT NULL, host TEXT NOT NULL, software TEXT NOT NULL,
                drops INTEGER NOT NULL DEFAULT 0, boot INTEGER, end_boot INTEGER);
            CREATE TABLE _streams(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, table_name TEXT NOT NULL UNIQUE);
            CREATE TABLE _fields(
                stream INTEGER NOT NULL REFERENCES _streams, position INTEGER NOT NULL, name TEXT NOT NULL,
                unit TEXT NOT NULL, kind TEXT NOT NULL, column_name TEXT NOT NULL,
                PRIMARY KEY(stream, position)) WITHOUT ROWID;
            -- What there is of each stream in each session; session 0 is the always store. Samples whose wall clock was
            -- not right are counted apart, by boot; boot 0 are those with a right time.
            CREATE TABLE _holdings(
                stream INTEGER NOT NULL REFERENCES _streams, session INTEGER NOT NULL, boot INTEGER NOT NULL,
                samples INTEGER NOT NULL DEFAULT 0, drops INTEGER NOT NULL DEFAULT 0,
                first_ns INTEGER, last_ns INTEGER, PRIMARY KEY(stream, session, boot)) WITHOUT ROWID;
            CREATE TABLE _marks(
                id INTEGER PRIMARY KEY, session INTEGER NOT NULL, time_ns INTEGER NOT NULL, text TEXT NOT NULL,
                boot INTEGER);
            CREATE TABLE _boots(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL UNIQUE);
            """
        ),
        Migration(
            """
            -- A copy of the schema, from which the tables are found should the first page be damaged.
            CREATE TABLE _schema(type TEXT, name TEXT, tbl_name TEXT, rootpage INTEGER, sql TEXT);
            -- Damaged files that were set aside, and up to which page what they hold was put back.
            CREATE TABLE _salvages(
                path TEXT PRIMARY KEY, page INTEGER NOT NULL, found INTEGER NOT NULL, expected INTEGER NOT NULL,
                is_done INTEGER NOT NULL);
            INSERT INTO _schema SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'table';
            """
        ),
    ]

    /// The session number under which holdings count the always store.
    static let alwaysStore: Int64 = 0
    /// The boot number under which holdings count samples with a right time.
    static let rightClock: Int64 = 0

    static func tableName(for stream: String) -> String {
        // "Names that begin with sqlite_ are reserved" (https://www.sqlite.org/lang_createtable.html).
        stream.hasPrefix("sqlite_") ? "_\(stream)" : stream
    }

    /// The name of a column: the field's, or one with a number when that is taken by another unit or kind of the field.
    static func columnName(for field: String, taken: Set<String>) -> String {
        // `time_ns` is every table's own; `stream` is a key of every exported line.
        let plain = field == "time_ns" || field == "stream" ? "_\(field)" : field
        guard taken.contains(plain) else { return plain }
        var number = 2
        while taken.contains("_\(number)_\(field)") { number += 1 }
        return "_\(number)_\(field)"
    }
}
