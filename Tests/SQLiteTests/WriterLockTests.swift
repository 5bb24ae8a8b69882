import Foundation
import SQLite
import TestKit
import Testing

@Suite("The writer's lock")
struct WriterLockTests {
    @Test("it is free once it was given back, though a child that was being started still has a copy of it")
    func copies() throws {
        let folder = TemporaryDirectory()
        let path = folder.file("lock")
        var lock: WriterLock? = try WriterLock(path: path)
        let held = try #require(Self.descriptor(of: path))
        // What a child has between its making and its program: the same open file.
        let copy = dup(held)
        defer { close(copy) }
        #expect(WriterLock.isHeld(path: path))
        lock = nil
        #expect(!WriterLock.isHeld(path: path))
        _ = try WriterLock(path: path)
        _ = lock
    }

    private static func descriptor(of path: String) -> Int32? {
        (3..<65_536).first { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }.map { Int32($0) }
    }
}
