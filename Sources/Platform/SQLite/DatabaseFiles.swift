public import Diagnostics
internal import Glibc

/// A file that the kernel would not let us use.
public struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was being done: "set aside".
    public let action: String
    /// The file.
    public let path: String
    /// The `errno`.
    public let code: Int32

    /// Makes a failure.
    public init(action: String, path: String, code: Int32) {
        self.action = action
        self.path = path
        self.code = code
    }

    /// What failed, on what, why.
    public var description: String { "Cannot \(action) \(path): \(String(cString: strerror(code)))." }
}

/// Where a database lies: `NAME.sqlite` in a folder, with its log, its writer's lock and what was set aside of it.
public struct DatabaseFiles: Sendable, Hashable {
    /// The folder.
    public let folder: String
    /// The name without its ending.
    public let name: String

    /// The files of the database `name` in `folder`.
    public init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The database.
    public var database: String { "\(folder)/\(name).sqlite" }
    /// The writer's lock.
    public var lock: String { "\(folder)/\(name).lock" }

    /// Whether there is a database.
    public var exists: Bool { access(database, F_OK) == 0 }

    /// Bytes that are free for us on the disk of the folder; nil when the kernel does not say.
    public func freeBytes() -> Int? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Bytes of the database and its log.
    public func usedBytes() -> Int { bytes(of: database) + logBytes() }

    /// Bytes of the log.
    public func logBytes() -> Int { bytes(of: database + "-wal") }

    private func bytes(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// A new name for a damaged database, by the time of its being set aside.
    public func nameForDamaged(at time: Timestamp) -> String {
        let stamp = time.iso8601(fractionDigits: 0).filter { $0 != "-" && $0 != ":" }
        var target = "\(folder)/\(name).corrupt-\(stamp)"
        var number = 2
        while access(target, F_OK) == 0 || access(target + "-wal", F_OK) == 0 {
            target = "\(folder)/\(name).corrupt-\(stamp)-\(number)"
            number += 1
        }
        return target
    }

    /// Renames a damaged database with its log, so that nothing of it is lost; says its new name.
    public func setAside(at time: Timestamp) throws(FileFailure) -> String {
        let target = nameForDamaged(at: time)
        // The log first: a database without its log is whole as of the last checkpoint, a log with a foreign database is not.
        for suffix in ["-wal", "-shm", ""] {
            guard rename(database + suffix, target + suffix) == 0 || errno == ENOENT else {
                throw FileFailure(action: "set aside", path: database + suffix, code: errno)
            }
        }
        return target
    }

    /// The paths of damaged databases that were set aside, the oldest first.
    public func damaged() -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("\(self.name).corrupt-"), !name.hasSuffix("-shm") else { continue }
            let plain = name.hasSuffix("-wal") ? String(name.dropLast(4)) : name
            if !names.contains(plain) { names.append(plain) }
        }
        return names.sorted().map { "\(folder)/\($0)" }
    }
}
