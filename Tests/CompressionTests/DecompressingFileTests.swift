import Compression
import Foundation
import TestKit
import Testing

/// Compressed files here are made by the program `gzip`, not by our own library.
@Suite("Reading plain and gzip files", .timeLimit(.minutes(5))) struct DecompressingFileTests {
    private let directory = TemporaryDirectory()

    private func gzip(_ file: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-k", "-f", file]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try Data(contentsOf: URL(fileURLWithPath: file + ".gz"))
    }

    private func write(_ data: Data, _ name: String) throws -> String {
        try data.write(to: URL(fileURLWithPath: directory.file(name)))
        return directory.file(name)
    }

    private func readAll(_ path: String, step: Int = 1000) throws(CompressionError) -> Data {
        let file = try DecompressingFile(path)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
        defer { memory.deallocate() }
        var all = Data()
        while true {
            let count = try file.read(into: memory)
            if count == 0 { return all }
            all.append(contentsOf: memory[..<count])
        }
    }

    /// Text that is a megabyte and compresses to several blocks.
    private func long() -> Data {
        Data((0..<40_000).map { "row \($0) \($0 &* 2_654_435_761 % 1_000_003)\n" }.joined().utf8)
    }

    @Test("a plain file is read as it is, whatever its name")
    func plain() throws {
        let path = try write(long(), "text.gz")

        #expect(try readAll(path) == long())
    }

    @Test("a gzip file is read as its content, whatever its name", arguments: [1, 7, 4096, 1 << 20])
    func compressed(_ step: Int) throws {
        let path = try write(try gzip(try write(long(), "a")), "b.csv")

        #expect(try readAll(path, step: step == 1 ? 50 : step) == long())
    }

    @Test("members behind each other are one text")
    func members() throws {
        let first = try gzip(try write(Data("one\n".utf8), "a"))
        let second = try gzip(try write(Data("two\n".utf8), "b"))

        #expect(try readAll(try write(first + second, "both")) == Data("one\ntwo\n".utf8))
    }

    @Test("an empty file is empty")
    func empty() throws {
        #expect(try readAll(try write(Data(), "empty")).isEmpty)
    }

    @Test("a file that was cut is told after what is right in it", arguments: [20, 1_000, 100_000])
    func truncated(_ cut: Int) throws {
        let whole = try gzip(try write(long(), "a"))
        let path = try write(whole.dropLast(cut), "cut.gz")

        let error = #expect(throws: CompressionError.self) { try readAll(path) }

        #expect(error?.kind == .truncated)
        #expect(error?.description.contains(path) == true)
    }

    @Test("what was read before a cut is right")
    func beforeCut() throws {
        let path = try write(try gzip(try write(long(), "a")).dropLast(1_000), "cut.gz")
        let file = try DecompressingFile(path)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { memory.deallocate() }

        let count = try file.read(into: memory)

        #expect(Data(memory[..<count]) == long().prefix(count))
        #expect(count > 0)
    }

    @Test("damage is told, not passed on as the end")
    func damaged() throws {
        var data = try gzip(try write(long(), "a"))
        data[data.count - 6] ^= 0xFF

        let error = #expect(throws: CompressionError.self) { try readAll(try write(data, "bad.gz")) }

        #expect(error?.kind == .damaged)
    }

    @Test("what is missing, or is a folder, is told when it is opened")
    func notThere() {
        #expect(throws: CompressionError.self) { try DecompressingFile(directory.file("nothing")) }
        let missing = #expect(throws: CompressionError.self) { try readAll(directory.file("nothing")) }
        #expect(missing?.kind == .notFound)
        let folder = #expect(throws: CompressionError.self) { try readAll(directory.path) }
        #expect(folder?.kind == .notAFile)
        let forbidden = #expect(throws: CompressionError.self) { try readAll("/proc/sys/vm/compact_memory") }
        #expect(forbidden?.kind == .noPermission)
    }
}
