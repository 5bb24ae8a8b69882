internal import Diagnostics
internal import SQLite

/// Where the outbox of a state folder lies.
public struct OutboxFiles: Sendable {
    let files: DatabaseFiles

    /// The state folder.
    public var folder: String { files.folder }
    /// The database.
    public var database: String { files.database }
    var lock: String { files.lock }
    var reserve: String { "\(files.folder)/outbox.reserve" }

    /// Whether there is an outbox.
    public var exists: Bool { files.exists }
    /// Whether a process uses it.
    public var isInUse: Bool { WriterLock.isHeld(path: lock) }

    /// The files in the state folder `folder`.
    public init(folder: String) {
        files = DatabaseFiles(folder: folder, name: "outbox")
    }

    /// Bytes of the database and its log.
    public func usedBytes() -> Int { files.usedBytes() }

    /// Damaged databases that were set aside, the oldest first.
    public func damaged() -> [String] { files.damaged() }
}
