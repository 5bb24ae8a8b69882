import Foundation
import SQLite
import TestKit
import Testing

@Suite("Damaged files", .timeLimit(.minutes(5)))
struct DamagedFileTests {
    let folder = TemporaryDirectory()

    private func makeFile(_ name: String) throws -> String {
        let path = folder.file(name)
        let connection = try SQLiteConnection(path: path)
        try connection.execute("CREATE TABLE t(a, b); CREATE INDEX i ON t(b)")
        try connection.withTransaction { () throws(SQLiteError) in
            for row in 0..<2000 { try connection.run("INSERT INTO t VALUES(?, 'some text')", .integer(Int64(row))) }
        }
        try connection.checkpoint()
        return path
    }

    @Test("a whole file has no problems")
    func whole() throws {
        let connection = try SQLiteConnection(path: try makeFile("a.sqlite"))
        #expect(try connection.integrityProblems(.full).isEmpty)
    }

    @Test("a text file is no database")
    func noDatabase() throws {
        let path = try folder.write(String(repeating: "not a database at all. ", count: 100), to: "a.sqlite")
        let error = try #require(throws: SQLiteError.self) { _ = try SQLiteConnection(path: path) }
        #expect(error.isCorrupt && error.code == .notADatabase)
        #expect(error.description.contains("damaged"))
    }

    @Test("a zeroed page is found by the check and said by the read")
    func zeroedPage() throws {
        let path = try makeFile("a.sqlite")
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try handle.seekToEnd()
        for page in 2..<(size / 4096) {
            try handle.seek(toOffset: page * 4096)
            try handle.write(contentsOf: Data(count: 4096))
        }
        try handle.close()

        let connection = try SQLiteConnection(path: path)
        #expect(try !connection.integrityProblems().isEmpty)
        let error = try #require(throws: SQLiteError.self) {
            try connection.run("SELECT sum(a), sum(length(b)) FROM t")
        }
        #expect(error.isCorrupt)
    }

    @Test("a truncated file is found")
    func truncated() throws {
        let path = try makeFile("a.sqlite")
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: 4096 * 3)
        try handle.close()

        let error = try #require(throws: SQLiteError.self) {
            let connection = try SQLiteConnection(path: path)
            try connection.run("SELECT sum(a), sum(length(b)) FROM t")
        }
        #expect(error.isCorrupt)
    }
}
