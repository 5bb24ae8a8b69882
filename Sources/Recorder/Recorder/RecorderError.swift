internal import Diagnostics
internal import Glibc
public import SQLite
public import Samples

/// Why something about recordings failed.
public enum RecorderError: Error, Sendable, CustomStringConvertible {
    /// The database said no.
    case database(SQLiteError)
    /// Another process records into the file; its process id, if known.
    case locked(path: String, process: Int?)
    /// A file or folder outside the database could not be used.
    case file(action: String, path: String, code: Int32)
    /// There is no recording file yet.
    case noRecordings(path: String)
    /// A session runs already.
    case alreadyRecording(session: Int64)
    /// No session runs.
    case notRecording
    /// There is no such session.
    case noSuchSession(Int64)
    /// The session runs, so it cannot be deleted.
    case sessionIsRunning(Int64)
    /// There is no such stream in the recordings.
    case noSuchStream(Name)
    /// There is nothing with a place in the session.
    case noLocation(session: Int64)
    /// The buffer in front of the disk is full.
    case bufferFull
    /// The stream cannot be stored: there are too many streams, or too many fields in one.
    case refused(Name)
    /// The recorder has been closed.
    case closed

    /// Whether the same call may succeed later with nothing changed.
    public var isRetriable: Bool {
        switch self {
        case .database(let error): error.isRetriable || error.isFull
        case .bufferFull: true
        case .file(_, _, let code): code == ENOSPC || code == EDQUOT
        default: false
        }
    }

    /// Whether the disk is full.
    public var isFull: Bool {
        switch self {
        case .database(let error): error.isFull
        case .file(_, _, let code): code == ENOSPC || code == EDQUOT
        default: false
        }
    }

    /// What failed, on what, why, and what to do.
    public var description: String {
        switch self {
        case .database(let error):
            error.description
        case .locked(let path, let process):
            "Cannot record into \(path): another feedbridge\(process.map { " (process \($0))" } ?? "") records into it. "
                + "Stop it, or set `state` to another folder."
        case .file(let action, let path, let code):
            "Cannot \(action) \(path): \(String(cString: strerror(code)))."
        case .noRecordings(let path):
            "There are no recordings: \(path) does not exist. Start a recording, or check `state` in the configuration."
        case .alreadyRecording(let session):
            "Session \(session) is being recorded already."
        case .notRecording:
            "Nothing is being recorded. Start a recording first."
        case .noSuchSession(let session):
            "There is no session \(session). `feedbridge sessions list` shows those there are."
        case .sessionIsRunning(let session):
            "Cannot delete session \(session): it is being recorded. Stop the recording first."
        case .noSuchStream(let name):
            "There is no stream \(name) in the recordings."
        case .noLocation(let session):
            "Cannot export session \(session) as GPX: it has no `location` stream with `lat` and `lon`."
        case .bufferFull:
            "Cannot take more samples: those that wait for the disk fill their buffer. Try again in a moment."
        case .refused(let name):
            "Cannot record stream \(name): there are \(RecordingLimits.streams) streams already, or it had more than "
                + "\(RecordingLimits.columns) different fields."
        case .closed:
            "The recorder is closed."
        }
    }
}

/// How much one file of recordings takes.
public enum RecordingLimits {
    /// The most streams.
    public static let streams = 256
    /// The most columns of a stream, over all the versions that its fields had.
    public static let columns = 256
}

/// Runs `body` and turns its error into ours.
func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(RecorderError) -> Result {
    do throws(SQLiteError) {
        return try body()
    } catch {
        throw .database(error)
    }
}
