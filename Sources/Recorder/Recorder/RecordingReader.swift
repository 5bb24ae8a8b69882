// Thread rule: each call opens a read-only connection of its own and closes it, on this actor's thread. So a reader never
// keeps a file that the recorder has set aside, and holds nothing open between two pages.

internal import Diagnostics
internal import SQLite
internal import Samples

/// Reads recordings, with or without a running recorder.
public actor RecordingReader {
    /// Where the files are.
    public nonisolated let files: RecordingFiles
    let executor = BlockingExecutor(label: "recording reader")

    /// The executor with a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a reader of the recordings in the state folder `folder`.
    public init(folder: String) {
        files = RecordingFiles(folder: folder)
    }

    /// All sessions, the oldest first. One that nobody records any more is `interrupted`, whatever the file says.
    public func sessions() throws(RecorderError) -> [Session] {
        try read { connection throws(SQLiteError) in try connection.sessions(areRunning: isWriterAlive) }
    }

    /// One session.
    public func session(_ id: Int64) throws(RecorderError) -> Session {
        let found = try read { connection throws(SQLiteError) in
            try connection.sessions(areRunning: isWriterAlive, only: id)
        }
        guard let session = found.first else { throw .noSuchSession(id) }
        return session
    }

    /// The marks of a session in the order of time.
    public func marks(ofSession id: Int64) throws(RecorderError) -> [Mark] {
        try read { connection throws(SQLiteError) in try connection.marks(inSession: id) }
    }

    /// The streams that hold samples, by name; of one session only, if it is given.
    public func streams(inSession id: Int64? = nil) throws(RecorderError) -> [RecordedStream] {
        try read { connection throws(SQLiteError) in try connection.streams(inSession: id) }
    }

    private var isWriterAlive: Bool { WriterLock.isHeld(path: files.lock) }

    func read<Result>(
        _ body: (borrowing SQLiteConnection) throws(SQLiteError) -> Result
    ) throws(RecorderError) -> Result {
        let connection = try open()
        return try translated { () throws(SQLiteError) in try body(connection) }
    }

    func open() throws(RecorderError) -> SQLiteConnection {
        guard files.exists else { throw .noRecordings(path: files.database) }
        do throws(SQLiteError) {
            return try SQLiteConnection(
                path: files.database,
                mode: .readOnly,
                migrations: RecordingSchema.migrations
            )
        } catch {
            throw .database(error)
        }
    }
}
