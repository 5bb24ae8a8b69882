import Foundation
import SQLite
import TestKit
import Testing

@Suite("Migrations")
struct MigrationTests {
    let folder = TemporaryDirectory()
    let first = Migration("CREATE TABLE t(a); INSERT INTO t VALUES('old')")
    let second = Migration { connection throws(SQLiteError) in
        try connection.execute("ALTER TABLE t ADD COLUMN b")
        try connection.run("UPDATE t SET b = ?", 5)
    }

    @Test("an old file gets the steps that it has not seen, once")
    func upgrades() throws {
        let path = folder.file("a.sqlite")
        do {
            let old = try SQLiteConnection(path: path, migrations: [first])
            #expect(try old.schemaVersion() == 1)
        }

        for _ in 0..<2 {
            let new = try SQLiteConnection(path: path, migrations: [first, second])
            #expect(try new.schemaVersion() == 2)
            #expect(try new.value("SELECT a FROM t") == "old")
            #expect(try new.value("SELECT b FROM t") == 5)
            #expect(try new.value("SELECT count(*) FROM t") == 1)
        }
    }

    @Test("a step that fails leaves the file as it was")
    func failsWhole() throws {
        let path = folder.file("a.sqlite")
        _ = try SQLiteConnection(path: path, migrations: [first])

        #expect(throws: SQLiteError.self) {
            _ = try SQLiteConnection(path: path, migrations: [first, second, Migration("CREATE TABLE t(again)")])
        }

        let same = try SQLiteConnection(path: path, migrations: [first])
        #expect(try same.schemaVersion() == 1)
        #expect(throws: SQLiteError.self) { try same.value("SELECT b FROM t") }
    }

    @Test("a file of a newer program is refused and stays byte for byte", arguments: [true, false])
    func refusesNewer(withLog: Bool) throws {
        let path = folder.file("a.sqlite")
        let newer = try SQLiteConnection(path: path, migrations: [first, second])
        try newer.execute("INSERT INTO t VALUES('in the log', 1)")
        if !withLog { try newer.checkpoint() }
        // A copy taken while the other is open is what a crash leaves behind.
        let copy = folder.file("copy.sqlite")
        let names = withLog ? ["", "-wal"] : [""]
        for name in names { try FileManager.default.copyItem(atPath: path + name, toPath: copy + name) }
        let before = try names.map { try Data(contentsOf: URL(fileURLWithPath: copy + $0)) }

        let error = try #require(throws: SQLiteError.self) { _ = try SQLiteConnection(path: copy, migrations: [first]) }

        #expect(error.newerSchema?.found == 2 && error.newerSchema?.known == 1)
        #expect(error.description.contains("schema version 2 and this program knows versions up to 1"))
        let after = try names.map { try Data(contentsOf: URL(fileURLWithPath: copy + $0)) }
        #expect(after == before)
    }
}
