internal import Diagnostics
internal import Glibc

/// Where the recordings of a state folder lie.
public struct RecordingFiles: Sendable {
    /// The state folder.
    public let folder: String
    /// The database.
    public var database: String { "\(folder)/recordings.sqlite" }
    /// The writer's lock.
    var lock: String { "\(folder)/recordings.lock" }

    /// Whether there is a database.
    public var exists: Bool { access(database, F_OK) == 0 }

    /// The files in the state folder `folder`.
    public init(folder: String) {
        self.folder = folder
    }

    /// Bytes that are free for us on the disk of the folder; nil when the kernel does not say.
    public func freeBytes() -> Int? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Bytes of the database and its log.
    public func usedBytes() -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(database + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    /// Renames a damaged database with its log, so that nothing of it is lost; says its new name.
    func setAside(at time: Timestamp) throws(RecorderError) -> String {
        let stamp = time.iso8601(fractionDigits: 0).filter { $0 != "-" && $0 != ":" }
        var target = "\(folder)/recordings.corrupt-\(stamp)"
        var number = 2
        while access(target, F_OK) == 0 {
            target = "\(folder)/recordings.corrupt-\(stamp)-\(number)"
            number += 1
        }
        // The log first: a database without its log is whole as of the last checkpoint, a log with a foreign database is not.
        for suffix in ["-wal", "-shm", ""] {
            guard rename(database + suffix, target + suffix) == 0 || errno == ENOENT else {
                throw .file(action: "set aside", path: database + suffix, code: errno)
            }
        }
        return target
    }
}
