internal import AdafruitIO
internal import SQLite

/// The store's connection, with its errors as the store's.
struct StoreDatabase: ~Copyable {
    struct Account: Sendable {
        let id: Int64
        let plan: AdafruitIOPlan
    }

    let connection: SQLiteConnection
    var accounts: [String: Account] = [:]

    init(connection: consuming SQLiteConnection) {
        self.connection = connection
    }

    borrowing func account(_ name: String) throws(StoreError) -> Account {
        guard let account = accounts[name] else { throw .notFound("account") }
        return account
    }

    /// Runs one statement and passes each row to `row`.
    borrowing func run(
        _ sql: String,
        _ parameters: SQLiteValue...,
        row: (Statement) -> Void = { _ in }
    ) throws(StoreError) {
        try run(sql, all: parameters, row: row)
    }

    /// The same with the parameters in an array.
    borrowing func run(
        _ sql: String,
        all parameters: [SQLiteValue],
        row: (Statement) -> Void = { _ in }
    ) throws(StoreError) {
        do throws(SQLiteError) {
            let statement = try connection.prepare(sql)
            for (place, parameter) in parameters.enumerated() { try statement.bind(parameter, at: place + 1) }
            while try statement.step() { row(statement) }
        } catch {
            throw .database(error)
        }
    }

    /// All rows of a statement.
    borrowing func rows<Row>(
        _ sql: String,
        _ parameters: SQLiteValue...,
        as make: (Statement) -> Row
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        try run(sql, all: parameters) { rows.append(make($0)) }
        return rows
    }

    /// The first value of the first row; nil when there is no row.
    borrowing func value(_ sql: String, _ parameters: SQLiteValue...) throws(StoreError) -> SQLiteValue? {
        var value: SQLiteValue?
        try run(sql, all: parameters) { if value == nil { value = $0.value(at: 0) } }
        return value
    }
}
