public import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxStore {
    /// In which order points of a feed are read.
    public enum Order: Sendable {
        /// As they were accepted.
        case oldestFirst
        /// The newest first: for live data.
        case newestFirst
    }

    // MARK: What is there

    /// Up to `limit` points of a feed in a state; `beyond` is the last id of the page before.
    ///
    /// Only what is on the disk is shown. While a damaged file is put back, the oldest are not: older ones may come.
    public func points(
        of feed: FeedKey,
        in state: PointState = .waiting,
        order: Order = .oldestFirst,
        beyond id: Int64? = nil,
        limit: Int = 100
    ) throws(OutboxError) -> [OutboxPoint] {
        let file = try settledFile()
        if file.isSalvaging, state == .waiting, order == .oldestFirst { return [] }
        return try rows(of: feed, in: state, order: order, beyond: id, limit: limit, file).map(\.outboxPoint)
    }

    /// The newest waiting point of each feed, those of the highest priority first.
    public func newestOfEach() throws(OutboxError) -> [OutboxPoint] {
        let file = try settledFile()
        var newest: [PointRow] = []
        for feed in Set(file.lanes.filter({ $0.tally.rows[PointState.waiting.code] > 0 }).map(\.feed)) {
            newest += try rows(of: feed, in: .waiting, order: .newestFirst, beyond: nil, limit: 1, file)
        }
        return newest.sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }.map(\.outboxPoint)
    }

    /// Reads up to `limit` waiting points of a feed and marks them as sending, in one commit.
    public func take(of feed: FeedKey, order: Order = .oldestFirst, limit: Int) async throws(OutboxError)
        -> [OutboxPoint]
    {
        let found = try points(of: feed, order: order, limit: limit)
        guard !found.isEmpty else { return [] }
        try await markSending(found.map(\.id))
        return found.map { point in
            OutboxPoint(
                id: point.id,
                point: point.point,
                priority: point.priority,
                attempts: point.attempts + 1,
                state: .sending
            )
        }
    }

    /// How many points of a feed wait with ids beyond `id`, and the newest of those ids. It reads the index only.
    public func waiting(of feed: FeedKey, beyond id: Int64?) throws(OutboxError) -> (count: Int, newest: Int64?) {
        let file = try settledFile()
        if file.isSalvaging { return (0, nil) }
        do throws(SQLiteError) {
            var (count, newest): (Int, Int64?) = (0, nil)
            for lane in file.lanes(of: feed) where lane.tally.rows[PointState.waiting.code] > 0 {
                let found = try file.waiting(lane: lane, beyond: id ?? .min)
                count += found.count
                newest = [newest, found.newest].compactMap(\.self).max()
            }
            return (count, newest)
        } catch {
            try recover(from: error)
            return (0, nil)
        }
    }

    // MARK: What happens to points

    /// Marks points as handed to a link and counts an attempt; returns when that is on the disk. Say it before sending.
    ///
    /// A point in `doubt` that is sent again was perhaps sent twice, and is counted so.
    ///
    /// - Returns: the points that are marked. Others have left the outbox meanwhile, and must not be sent.
    @discardableResult
    public nonisolated func markSending(_ ids: [Int64]) async throws(OutboxError) -> Set<Int64> {
        guard let ticket = buffer.withLock({ $0.append(.sending(ids), waits: true)?.ticket }) else { throw .closed }
        if try await finish(ticket) == ids.count { return Set(ids) }
        return try await present(ids)
    }

    /// The points have arrived: they leave.
    public nonisolated func confirm(_ ids: [Int64]) { add(.confirmed(ids)) }

    /// The service will never take the points: they go to the dead letters with the reason.
    public nonisolated func refuse(_ ids: [Int64], reason: String) { add(.refused(ids, reason: reason)) }

    /// The points leave unsent, and are counted so.
    public nonisolated func evict(_ ids: [Int64], _ cause: EvictionCause = .late) { add(.evicted(ids, cause)) }

    /// The points are known not to have arrived: they may be sent again.
    public nonisolated func putBack(_ ids: [Int64]) { add(.state(ids, .waiting)) }

    /// Nobody knows whether the points have arrived: they are to be looked up.
    public nonisolated func doubt(_ ids: [Int64]) { add(.state(ids, .doubt)) }

    /// The points must not be sent until `release`.
    public nonisolated func hold(_ ids: [Int64]) { add(.state(ids, .held)) }

    /// Points that are held may be sent; says how many there were.
    @discardableResult
    public func release(_ feed: FeedKey? = nil) throws(OutboxError) -> Int {
        try inChunks { file throws(SQLiteError) in
            for lane in file.lanes where lane.tally.rows[PointState.held.code] > 0 && (feed == nil || lane.feed == feed)
            {
                let page = try file.read(lane: lane, state: .held, newestFirst: false, beyond: nil, limit: 500)
                return try file.apply(.state(page.rows.map(\.id) + page.damaged, .waiting))
            }
            return 0
        }
    }

    // MARK: What a user asks for

    /// Makes dead letters points again; says of how many. Those whose time is unknown stay.
    @discardableResult
    public func retry(_ ids: [Int64]) throws(OutboxError) -> Int {
        try inFile { file throws(SQLiteError) in
            var count = 0
            for id in ids where try file.revive(id) { count += 1 }
            return count
        }
    }

    /// Makes all dead letters points again; says how many.
    @discardableResult
    public func retryAll() throws(OutboxError) -> Int {
        var last = Int64.min
        var count = 0
        while true {
            var ids: [Int64] = []
            try inFile { file throws(SQLiteError) in
                try file.connection.run(
                    "SELECT id FROM dead WHERE id > ? ORDER BY id LIMIT 500",
                    .integer(last)
                ) { row in ids.append(row.integer(at: 0)) }
            }
            guard let end = ids.last else { return count }
            last = end
            count += try retry(ids)
        }
    }

    /// Drops all points of a feed that are not being sent; says how many.
    @discardableResult
    public func drop(feed: FeedKey) throws(OutboxError) -> Int {
        let states: [PointState] = [.waiting, .doubt, .held, .untimed]
        return try inChunks { file throws(SQLiteError) in
            for lane in file.lanes(of: feed) {
                for state in states where lane.tally.rows[state.code] > 0 {
                    let page = try file.read(lane: lane, state: state, newestFirst: false, beyond: nil, limit: 500)
                    return try file.apply(.evicted(page.rows.map(\.id) + page.damaged, .command))
                }
            }
            return 0
        }
    }

    // MARK: What a publisher compares with

    /// The id of the newest point ever taken.
    public func newestID() throws(OutboxError) -> Int64 { try settledFile().nextID - 1 }

    /// How many points of a feed up to the id `newest` are to be sent or are being sent, and which of `ids` are gone.
    public func standing(
        of feed: FeedKey,
        upTo newest: Int64,
        among ids: [Int64]
    ) throws(OutboxError) -> (count: Int, gone: [Int64]) {
        let there = try present(ids)
        let file = try settledFile()
        do throws(SQLiteError) {
            var count: Int64 = 0
            for lane in file.lanes(of: feed) { count += try file.sendable(of: lane, upTo: newest) }
            return (Int(count), ids.filter { !there.contains($0) })
        } catch {
            try recover(from: error)
            throw .database(error)
        }
    }

    /// Those of `ids` that are still here.
    private func present(_ ids: [Int64]) throws(OutboxError) -> Set<Int64> {
        let file = try settledFile()
        do throws(SQLiteError) {
            var there: Set<Int64> = []
            for id in ids where try file.find(id) != nil { there.insert(id) }
            return there
        } catch {
            try recover(from: error)
            throw .database(error)
        }
    }

    // MARK: Helpers

    private nonisolated func add(_ change: OutboxBuffer.Change) {
        let taken = buffer.withLock { $0.append(change, waits: false) }
        act(taken?.action ?? .nothing)
    }

    /// The file, with all that was said up to now written into it.
    func settledFile() throws(OutboxError) -> OutboxFile {
        if file == nil || buffer.withLock({ $0.hasChanges }) || !backlog.isEmpty { try commit() }
        guard let file else { throw failure ?? .closed }
        return file
    }

    /// Runs `body` in a commit of its own, after what was said up to now.
    @discardableResult
    func inFile<Result>(_ body: (OutboxFile) throws(SQLiteError) -> Result) throws(OutboxError) -> Result {
        try commit()
        guard let file else { throw failure ?? .closed }
        do throws(SQLiteError) {
            let result = try file.commit { () throws(SQLiteError) in try body(file) }
            showCounts()
            announce()
            return result
        } catch {
            try recover(from: error)
            throw .database(error)
        }
    }

    /// Runs `body` again and again, each time in a commit of its own, until it has nothing to do.
    func inChunks(_ body: (OutboxFile) throws(SQLiteError) -> Int) throws(OutboxError) -> Int {
        var sum = 0
        while true {
            let count = try inFile(body)
            guard count > 0 else { return sum }
            sum += count
        }
    }

    /// Rows of all lanes of a feed, in one order. Damaged ones go to the dead letters.
    private func rows(
        of feed: FeedKey,
        in state: PointState,
        order: Order,
        beyond id: Int64?,
        limit: Int,
        _ file: OutboxFile
    ) throws(OutboxError) -> [PointRow] {
        var rows: [PointRow] = []
        var damaged: [Int64] = []
        do throws(SQLiteError) {
            for lane in file.lanes(of: feed) {
                let page = try file.read(
                    lane: lane,
                    state: state,
                    newestFirst: order == .newestFirst,
                    beyond: id,
                    limit: limit
                )
                rows += page.rows
                damaged += page.damaged
            }
        } catch {
            try recover(from: error)
            return []
        }
        if !damaged.isEmpty {
            log.error("\(damaged.count) points of \(feed) are damaged on the disk: moved to the dead letters")
            refuse(damaged, reason: DeadLetterReason.damaged)
        }
        rows.sort { order == .oldestFirst ? $0.id < $1.id : $0.id > $1.id }
        return Array(rows.prefix(limit))
    }
}
