// Thread rule: the database belongs to this actor, whose executor has a thread of its own. What is nonisolated touches
// only the buffer, under its lock, and never waits for the disk.

internal import DataPoints
public import Diagnostics
internal import SQLite

/// The outbox: takes points without waiting, keeps them on the disk, and lets them go only with a reason.
///
/// One process uses a file; others may read it at the same time with an `OutboxReader`.
public actor OutboxStore {
    /// Where the files are.
    public nonisolated let files: OutboxFiles
    let settings: OutboxSettings
    nonisolated let time: any TimeSource
    let log: Log
    let executor = BlockingExecutor(label: "outbox")
    nonisolated let buffer: Guarded<OutboxBuffer>
    nonisolated let wake: AsyncStream<Void>.Continuation
    let wakes: AsyncStream<Void>
    nonisolated let salvageWake: AsyncStream<Void>.Continuation
    let salvageWakes: AsyncStream<Void>
    private let arrivalsWake: AsyncStream<Void>.Continuation
    /// Says that points can be sent which could not before; many such moments may be one. For one listener.
    public nonisolated let arrivals: AsyncStream<Void>

    var lock: WriterLock?
    var file: OutboxFile?
    let reserve: DiskReserve
    /// What a commit took and could not write: it is tried again.
    var backlog: [OutboxBuffer.Item] = []
    /// What became of the entries that somebody waits for.
    var outcomes: [Int: Result<Int, OutboxError>] = [:]
    var failure: OutboxError?
    var isDiskFull = false
    var roomPass = OutboxFile.RoomPass()
    var saidEvicting = false
    /// The oldest time of a point, as far as the last sweep knows.
    var oldestKnown: Int64 = .min
    /// What the salvage of damaged files has put back since this process began.
    var salvaged = 0
    var setAside: [String] = []
    /// Points that were committed since the last look.
    var news = OutboxNews()

    /// The executor with a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(folder: String, settings: OutboxSettings, time: any TimeSource, log: Log) {
        files = OutboxFiles(folder: folder)
        self.settings = settings
        self.time = time
        self.log = log
        reserve = DiskReserve(path: files.reserve, bytes: settings.reserveBytes)
        var first = OutboxBuffer(limit: settings.bufferBytes)
        first.isTimed = time.wall() >= OutboxStore.plausible
        buffer = Guarded(first)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (salvageWakes, salvageWake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (arrivals, arrivalsWake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// 2020-01-01: a wall clock before it is plainly wrong.
    static let plausible = Timestamp(nanoseconds: 1_577_836_800_000_000_000)

    /// Opens the outbox in the state folder `folder`, which exists.
    ///
    /// Points that were being sent when the last process ended become `doubt`; a damaged file is set aside, a new one
    /// begun, and `run` puts back what can be read.
    public static func open(
        folder: String,
        settings: OutboxSettings = OutboxSettings(),
        time: any TimeSource = SystemTime(),
        log: Log = .silent
    ) async throws(OutboxError) -> OutboxStore {
        let store = OutboxStore(folder: folder, settings: settings, time: time, log: log)
        try await store.open()
        return store
    }

    private func open() throws(OutboxError) {
        do throws(WriterLock.Failure) {
            lock = try WriterLock(path: files.lock)
        } catch {
            switch error {
            case .held(let process): throw .locked(path: files.database, process: process)
            case .file(let failure): throw .file(failure)
            }
        }
        let brokenLog = try copyBrokenLog()
        do throws(SQLiteError) {
            try openFile()
            try takeOver()
        } catch {
            if error.isFull {
                // The reserve is for this.
                reserve.release()
                isDiskFull = true
                try translated { () throws(SQLiteError) in
                    try openFile()
                    try takeOver()
                }
            } else {
                guard error.isCorrupt else { throw .database(error) }
                try replaceDamagedFile(error)
            }
        }
        if let brokenLog { try beginSalvage(ofLog: brokenLog) }
        if !isDiskFull, !reserve.isHeld, !reserve.hold() { isDiskFull = true }
        if isDiskFull { log.error("\(OutboxError.diskFull(path: files.database))") }
        let isFull = isDiskFull
        buffer.withLock { $0.isDiskFull = isFull }
        showCounts()
    }

    func openFile() throws(SQLiteError) {
        let opened = try OutboxFile(path: files.database, durability: settings.durability)
        opened.isSalvaging = try opened.connection.value("SELECT 1 FROM salvages WHERE phase <> 3 LIMIT 1") != nil
        file = opened
        if opened.isSalvaging { salvageWake.yield() }
    }

    private func takeOver() throws(SQLiteError) {
        guard let file else { return }
        let doubtful = try file.commit { () throws(SQLiteError) in try file.takeOver() }
        if doubtful > 0 { log.info("\(doubtful) points were being sent when the last process ended: to be looked up") }
        var unknown = 0
        while true {
            let count = try file.commit { () throws(SQLiteError) in try file.giveUpUntimed(limit: 500) }
            unknown += count
            if count == 0 { break }
        }
        if unknown > 0 { log.warning("\(unknown) points of an earlier boot never had a right time: not sent") }
    }

    func showCounts() {
        guard let file else { return }
        let lanes = file.lanes
        buffer.withLock { $0.changed(lanes: lanes) }
    }

    /// Says that points can be sent which `takeNews` does not list.
    func announce() {
        news.isComplete = false
        arrivalsWake.yield()
    }

    /// Says that points were committed.
    func announce(_ points: [OutboxPoint]) {
        news.add(points)
        arrivalsWake.yield()
    }

    /// Points that were committed since the last call, for one listener: without reading them from the disk again.
    public func takeNews() -> OutboxNews {
        defer { news = OutboxNews() }
        return news
    }

    /// The counts of all points and of each feed, now. It reads no row.
    public nonisolated var statistics: OutboxStatistics { buffer.withLock { $0.statistics } }

    /// Writes what waits, closes the file and releases the lock.
    public func close() throws(OutboxError) {
        buffer.withLock { $0.isClosed = true }
        wake.finish()
        salvageWake.finish()
        arrivalsWake.finish()
        defer {
            file = nil
            lock = nil
        }
        try commit()
        // Counts of what this very commit dropped.
        try commit()
        try translated { () throws(SQLiteError) in _ = try file?.connection.checkpoint() }
    }
}
