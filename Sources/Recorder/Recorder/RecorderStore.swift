// Thread rule: the database belongs to this actor, whose executor has a thread of its own. `receive` and its like are
// nonisolated: they touch only the buffer, under its lock, and never wait for the disk.

public import Diagnostics
internal import SQLite
internal import Samples

/// The recorder: takes samples without waiting, and writes them in groups into sessions and the always store.
///
/// One process writes a file; others may read it at the same time.
public actor RecorderStore {
    /// How a recorder works.
    public struct Settings: Sendable {
        /// The name of the machine, kept with each session.
        public var host = ""
        /// The version of the program, kept with each session.
        public var software = ""
        /// The longest time between a sample and its commit.
        public var commitEvery: Duration = .milliseconds(200)
        /// The longest time between a sample and its being safe from a power cut.
        public var syncEvery: Duration = .seconds(1)
        /// The most memory for samples that wait for the disk.
        public var bufferBytes = 8 << 20
        /// How long the always store keeps a sample, counted from the sample's time.
        public var keepOutside: Duration = .seconds(7 * 86_400)

        /// Makes the default settings.
        public init() {}
    }

    /// Where the files are.
    public nonisolated let files: RecordingFiles
    let settings: Settings
    nonisolated let time: any TimeSource
    let log: Log
    let executor = BlockingExecutor(label: "recorder")
    nonisolated let buffer: Guarded<SampleBuffer>
    nonisolated let wake: AsyncStream<Void>.Continuation
    let wakes: AsyncStream<Void>
    nonisolated let salvageWake: AsyncStream<Void>.Continuation
    let salvageWakes: AsyncStream<Void>

    var lock: WriterLock?
    var file: RecordingFile?
    /// What a commit took and could not write: it is tried again.
    var backlog: [SampleBuffer.Item] = []
    var pendingDrops: [Name: (stream: Stream, count: Int)] = [:]
    /// What became of the entries that somebody waits for.
    var outcomes: [Int: Result<Int64?, RecorderError>] = [:]
    var lastSync: BootInstant
    var isSynced = true
    /// What the newest commit failed with.
    var failure: SQLiteError?
    var refused: Set<Name> = []
    /// The session that runs, kept for the case that the file has to be set aside.
    var runningSession: (span: RecordingFile.Span, reason: SessionReason)?
    /// Whether what a damaged file holds is being put back.
    var isSalvaging = false
    /// Samples of damaged files that this process has put back.
    var salvaged = 0

    /// The executor with a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(folder: String, settings: Settings, time: any TimeSource, log: Log) {
        files = RecordingFiles(folder: folder)
        self.settings = settings
        self.time = time
        self.log = log
        var first = SampleBuffer(limit: settings.bufferBytes)
        let reading = RecorderClock.Reading(wall: time.wall(), boot: time.boot())
        _ = first.setClock(isRight: reading.wall >= RecorderClock.plausible, reading)
        buffer = Guarded(first)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (salvageWakes, salvageWake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        lastSync = time.boot()
    }

    /// Opens the recordings in the state folder `folder`, which exists.
    ///
    /// A session that a crash left unfinished becomes `interrupted`; a damaged file is set aside, a new one begun, and
    /// `run` puts back what can be read.
    public static func open(
        folder: String,
        settings: Settings = Settings(),
        time: any TimeSource = SystemTime(),
        log: Log = .silent
    ) async throws(RecorderError) -> RecorderStore {
        let store = RecorderStore(folder: folder, settings: settings, time: time, log: log)
        try await store.open()
        return store
    }

    private func open() throws(RecorderError) {
        lock = try files.lockForWriting()
        do throws(RecorderError) {
            let brokenLog = try copyBrokenLog()
            try translated { () throws(SQLiteError) in try openFile() }
            if let brokenLog { try salvage(brokenLog) }
            try beginForgottenSalvages()
            try translated { () throws(SQLiteError) in isSalvaging = try file?.unfinishedSalvage() != nil }
        } catch {
            guard case .database(let error) = error else { throw error }
            // Whoever made the disk full may make room: `run` tries again.
            if error.isFull { return failed(error) }
            guard error.isCorrupt else { throw .database(error) }
            try replaceDamagedFile(error)
        }
        if isSalvaging { salvageWake.yield() }
    }

    func openFile() throws(SQLiteError) {
        let opened = try RecordingFile(path: files.database)
        // A file that was set aside by hand in the midst of a session begins without it.
        if let running = runningSession, !opened.spans.contains(where: { $0.id == running.span.id }) {
            try opened.adopt(running.span, reason: running.reason, host: settings.host, software: settings.software)
        }
        if runningSession == nil {
            let count = try opened.interruptUnfinished()
            if count > 0 { log.warning("a recording was interrupted; what it had is kept") }
        }
        file = opened
    }

    /// Writes what waits, closes the file and releases the lock. A session that runs stays to be marked as interrupted.
    public func close() throws(RecorderError) {
        buffer.withLock { $0.isClosed = true }
        wake.finish()
        salvageWake.finish()
        defer {
            file = nil
            lock = nil
        }
        try commit(synced: true)
        try translated { () throws(SQLiteError) in _ = try file?.connection.checkpoint() }
    }
}
