import Diagnostics
import Foundation
import SQLite
import TestKit
import Testing

@Suite("SQLite connection", .timeLimit(.minutes(5)))
struct SQLiteConnectionTests {
    let folder = TemporaryDirectory()

    @Test("a value of each type survives a round trip")
    func roundTrip() throws {
        let connection = try SQLiteConnection(path: folder.file("a.sqlite"))
        try connection.execute("CREATE TABLE t(a, b, c, d, e)")
        let values: [SQLiteValue] = [
            .null, .integer(.min), .integer(.max), .real(0.1), .real(-0.0), .real(.leastNonzeroMagnitude), .text(""),
            .text("né \u{1F30D} \"quoted\"; DROP TABLE t"), .blob([]), .blob([0, 255, 1]),
        ]

        let insert = try connection.prepare("INSERT INTO t(a) VALUES(?)")
        for value in values { try insert.run(value) }

        var read: [SQLiteValue] = []
        try connection.run("SELECT a FROM t ORDER BY rowid") { read.append($0.value(at: 0)) }
        #expect(read == values)
        #expect(connection.lastInsertedRow == Int64(values.count))
    }

    @Test("a prepared statement runs again with new values")
    func runsAgain() throws {
        let connection = try SQLiteConnection.inMemory()
        try connection.execute("CREATE TABLE t(a INTEGER, b REAL, c TEXT)")
        let insert = try connection.prepare("INSERT INTO t VALUES(?, ?, ?)")

        for row in 0..<1000 {
            try insert.bind(row, at: 1)
            try insert.bind(Double(row) / 8, at: 2)
            try insert.bind("row \(row)", at: 3)
            try insert.run()
        }

        #expect(try connection.value("SELECT sum(a) FROM t") == 499_500)
        #expect(try connection.value("SELECT sum(b) FROM t") == .real(62437.5))
        #expect(try connection.value("SELECT c FROM t WHERE a = ?", 7) == "row 7")
        #expect(connection.changes == 1)
    }

    @Test("a text with a zero byte keeps its length")
    func zeroByte() throws {
        let connection = try SQLiteConnection.inMemory()
        try connection.execute("CREATE TABLE t(a)")
        try connection.run("INSERT INTO t VALUES(?)", "a\0b")
        #expect(try connection.value("SELECT a FROM t") == "a\0b")
    }

    @Test("foreign programs read the file")
    func foreignReader() throws {
        let path = folder.file("a.sqlite")
        let connection = try SQLiteConnection(path: path)
        try connection.execute("CREATE TABLE t(a REAL, b TEXT)")
        try connection.run("INSERT INTO t VALUES(?, ?)", 1.5, "x|y")

        #expect(try shell("sqlite3", path, "PRAGMA journal_mode; SELECT a, b FROM t") == "wal\n1.5|x|y\n")
    }

    @Test("a transaction that throws leaves nothing")
    func rollsBack() throws {
        let connection = try SQLiteConnection(path: folder.file("a.sqlite"))
        try connection.execute("CREATE TABLE t(a UNIQUE)")

        #expect(throws: SQLiteError.self) {
            try connection.withTransaction { () throws(SQLiteError) in
                try connection.run("INSERT INTO t VALUES(1)")
                try connection.run("INSERT INTO t VALUES(1)")
            }
        }

        #expect(try connection.value("SELECT count(*) FROM t") == 0)
        let open = connection.isInTransaction
        #expect(!open)
        let kept = try connection.withTransaction { () throws(SQLiteError) -> Int in
            try connection.run("INSERT INTO t VALUES(2)")
            return connection.changes
        }
        #expect(kept == 1)
        #expect(try connection.value("SELECT a FROM t") == 2)
    }

    @Test("what fails is said with code, action and path")
    func errorsSpeak() throws {
        let connection = try SQLiteConnection(path: folder.file("a.sqlite"))
        try connection.execute("CREATE TABLE t(a UNIQUE)")
        try connection.run("INSERT INTO t VALUES(?)", "secret value")

        let duplicate = try #require(throws: SQLiteError.self) {
            try connection.run("INSERT INTO t VALUES(?)", "secret value")
        }
        #expect(duplicate.code.rawValue == 2067)  // SQLITE_CONSTRAINT_UNIQUE
        #expect(duplicate.code.primary == .constraint)
        #expect(duplicate.description.contains("INSERT INTO t"))
        #expect(duplicate.description.contains(folder.file("a.sqlite")))
        #expect(!duplicate.description.contains("secret"))

        let wrong = try #require(throws: SQLiteError.self) { try connection.execute("SELEC 1") }
        #expect(wrong.code == .error && wrong.message.contains("syntax error"))

        let absent = try #require(throws: SQLiteError.self) {
            _ = try SQLiteConnection(path: folder.file("no/such/folder.sqlite"))
        }
        #expect(absent.code.primary == .cannotOpen)
        #expect(absent.description.contains("Check that its folder exists"))
        #expect(absent.isEnvironmental && !absent.isCorrupt && !absent.isRetriable)

        let range = try #require(throws: SQLiteError.self) {
            try connection.prepare("SELECT ?").bind(1, at: 2)
        }
        #expect(range.code == .range)
    }

    @Test("a held file is busy, and free again when the other is done")
    func busy() throws {
        let path = folder.file("a.sqlite")
        var options = SQLiteConnection.Options()
        options.busyTimeout = .milliseconds(1)
        let first = try SQLiteConnection(path: path, options: options)
        let second = try SQLiteConnection(path: path, options: options)
        try first.execute("CREATE TABLE t(a); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")

        let error = try #require(throws: SQLiteError.self) { try second.execute("INSERT INTO t VALUES(2)") }
        #expect(error.isRetriable && !error.isCorrupt && !error.isFull)

        try first.execute("COMMIT")
        try second.execute("INSERT INTO t VALUES(2)")
        #expect(try first.value("SELECT count(*) FROM t") == 2)
    }

    @Test("a second connection in this process leaves the first one's locks alone")
    func keepsLocks() throws {
        let path = folder.file("a.sqlite")
        let first = try SQLiteConnection(path: path)
        // Outside WAL mode the locks are on the file itself.
        try first.execute("PRAGMA journal_mode = DELETE; CREATE TABLE t(a); BEGIN EXCLUSIVE; INSERT INTO t VALUES(1)")
        var options = SQLiteConnection.Options()
        options.busyTimeout = .milliseconds(1)

        #expect(throws: SQLiteError.self) { _ = try SQLiteConnection(path: path, options: options) }

        #expect(try shell("sh", "-c", "sqlite3 \(path) 'INSERT INTO t VALUES(2)' 2>&1").contains("database is locked"))
        try first.execute("COMMIT")
        #expect(try first.value("SELECT count(*) FROM t") == 1)
    }

    @Test("a reader sees the state before an unfinished write")
    func snapshot() throws {
        let path = folder.file("a.sqlite")
        let writer = try SQLiteConnection(path: path)
        try writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        let reader = try SQLiteConnection(path: path, mode: .readOnly)

        try writer.execute("BEGIN; INSERT INTO t VALUES(2)")
        #expect(try reader.value("SELECT count(*) FROM t") == 1)
        try writer.execute("COMMIT")
        #expect(try reader.value("SELECT count(*) FROM t") == 2)

        let refused = try #require(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
        #expect(refused.code.primary == .readOnly)
    }

    @Test("a new file is private")
    func privateFile() throws {
        let path = folder.file("a.sqlite")
        let connection = try SQLiteConnection(path: path)
        try connection.execute("CREATE TABLE t(a)")
        for name in [path, "\(path)-wal", "\(path)-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
    }

    @Test("what was deleted is given back to the disk")
    func givesBack() throws {
        var options = SQLiteConnection.Options()
        options.incrementalVacuum = true
        let connection = try SQLiteConnection(path: folder.file("a.sqlite"), options: options)
        try connection.execute("CREATE TABLE t(a)")
        try connection.withTransaction { () throws(SQLiteError) in
            for _ in 0..<100 { try connection.run("INSERT INTO t VALUES(zeroblob(10000))") }
        }
        try connection.checkpoint()
        let before = try connection.size()
        #expect(before.usedBytes > 1_000_000)

        try connection.execute("DELETE FROM t")
        #expect(try connection.size().freePages > 200)
        try connection.giveBackSpace(pages: 100_000)
        #expect(try connection.checkpoint())

        let after = try connection.size()
        let file = try FileManager.default.attributesOfItem(atPath: connection.path)[.size] as? Int
        #expect(after.freePages == 0 && after.bytes < before.bytes / 10 && file == after.bytes)
    }

    @Test(
        "a quoted name is one identifier, whatever is in it",
        arguments: ["a", "a\"b", "x; DROP TABLE y", "né.é", "[", "a\0b"]
    )
    func quotes(name: String) throws {
        let connection = try SQLiteConnection.inMemory()
        try connection.execute("CREATE TABLE y(a); CREATE TABLE \(SQLiteName.quoted(name))(a)")
        let clean = name.replacingOccurrences(of: "\0", with: "")
        #expect(try connection.value("SELECT count(*) FROM sqlite_schema WHERE name IN (?, 'y')", .text(clean)) == 2)
    }

    @Test("a lock or an actor can own a connection")
    func owners() async throws {
        let guarded = Guarded(try SQLiteConnection.inMemory())
        let one = try guarded.withLock { connection in try connection.value("SELECT 1") }
        #expect(one == 1)

        let owner = try await Owner(path: folder.file("a.sqlite"))
        try await owner.add("x")
        try await owner.add("y")
        #expect(try await owner.count() == 2)
    }
}

/// The form in which the stores own a connection: an actor on an executor of its own.
private actor Owner {
    private let executor = BlockingExecutor(label: "owner")
    private let connection: SQLiteConnection
    private let insert: Statement

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String) async throws {
        let connection = try SQLiteConnection(path: path, migrations: [Migration("CREATE TABLE t(a TEXT)")])
        insert = try connection.prepare("INSERT INTO t VALUES(?)")
        self.connection = connection
    }

    func add(_ text: String) throws {
        try insert.run(.text(text))
    }

    func count() throws -> Int64? {
        try connection.value("SELECT count(*) FROM t")?.integer
    }
}
