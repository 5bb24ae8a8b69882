internal import Diagnostics
internal import SQLite

/// Where the recordings of a state folder lie.
public struct RecordingFiles: Sendable {
    private let files: DatabaseFiles

    /// The state folder.
    public var folder: String { files.folder }
    /// The database.
    public var database: String { files.database }
    /// The writer's lock.
    var lock: String { files.lock }

    /// Whether there is a database.
    public var exists: Bool { files.exists }

    /// The files in the state folder `folder`.
    public init(folder: String) {
        files = DatabaseFiles(folder: folder, name: "recordings")
    }

    /// Bytes that are free for us on the disk of the folder; nil when the kernel does not say.
    public func freeBytes() -> Int? { files.freeBytes() }

    /// Bytes of the database and its log.
    public func usedBytes() -> Int { files.usedBytes() }

    /// Damaged databases that were set aside, the oldest first.
    public func damaged() -> [String] { files.damaged() }

    /// A new name for a damaged database, by the time of its being set aside.
    func nameForDamaged(at time: Timestamp) -> String { files.nameForDamaged(at: time) }

    /// Renames a damaged database with its log, so that nothing of it is lost; says its new name.
    func setAside(at time: Timestamp) throws(RecorderError) -> String {
        do throws(FileFailure) {
            return try files.setAside(at: time)
        } catch {
            throw .file(action: error.action, path: error.path, code: error.code)
        }
    }

    /// Takes the lock that makes this process the only writer.
    func lockForWriting() throws(RecorderError) -> WriterLock {
        do throws(WriterLock.Failure) {
            return try WriterLock(path: lock)
        } catch {
            switch error {
            case .held(let process): throw .locked(path: database, process: process)
            case .file(let failure): throw .file(action: failure.action, path: failure.path, code: failure.code)
            }
        }
    }
}
