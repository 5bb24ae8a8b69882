public import SQLite

/// Why something about the outbox failed.
public enum OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database said no.
    case database(SQLiteError)
    /// Another process uses the outbox; its process id, if known.
    case locked(path: String, process: Int?)
    /// A file beside the database could not be used.
    case file(FileFailure)
    /// There is no outbox yet.
    case noOutbox(path: String)
    /// The disk is full and the point was not taken.
    case diskFull(path: String)
    /// The buffer in front of the disk is full.
    case bufferFull
    /// The outbox has as many bytes as it may have and `when_full` says that new points go.
    case full
    /// The outbox has been closed.
    case closed

    /// Whether the same call may succeed later with nothing changed.
    public var isRetriable: Bool {
        switch self {
        case .database(let error): error.isEnvironmental
        case .bufferFull, .diskFull, .full: true
        default: isFull
        }
    }

    /// Whether the disk is full.
    public var isFull: Bool {
        switch self {
        case .database(let error): error.isFull
        // ENOSPC and EDQUOT of the Linux ABI.
        case .file(let failure): failure.code == 28 || failure.code == 122
        case .diskFull: true
        default: false
        }
    }

    /// What failed, on what, why, and what to do.
    public var description: String {
        switch self {
        case .database(let error): error.description
        case .locked(let path, let process):
            "Cannot use the outbox \(path): another feedbridge\(process.map { " (process \($0))" } ?? "") uses it. "
                + "Stop it, or set `state` to another folder."
        case .file(let failure): failure.description
        case .noOutbox(let path):
            "There is no outbox: \(path) does not exist. Start `feedbridge run` first, or check `state` in the "
                + "configuration."
        case .diskFull(let path):
            "Cannot take points into \(path): the disk is full. Free space, or set `state` to another folder."
        case .bufferFull:
            "Cannot take more points: those that wait for the disk fill their buffer. Try again in a moment."
        case .full:
            "Cannot take more points: the outbox is full. Raise `max_bytes`, or choose another `when_full`."
        case .closed: "The outbox is closed."
        }
    }
}

/// Runs `body` and turns its error into ours.
func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(OutboxError) -> Result {
    do throws(SQLiteError) {
        return try body()
    } catch {
        throw .database(error)
    }
}
