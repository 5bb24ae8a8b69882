internal import DataPoints
internal import Diagnostics
internal import SQLite

/// The database as its one writer sees it. Belongs to the store's executor.
///
/// What it remembers beside the database is only there to be fast; a roll-back takes it back too.
final class OutboxFile {
    let connection: SQLiteConnection
    private(set) var lanes: [Lane] = []
    private var laneIndexes: [Lane.Key: Int] = [:]
    var nextID: Int64 = 1
    private var writtenNextID: Int64 = 1
    /// The number of the running boot.
    let boot: Int64

    private let insertPoint: Statement
    private let findPoint: Statement
    private let deletePoint: Statement
    private let updateState: Statement
    private let updateNextID: Statement
    private let updateLane: Statement
    let oldestOfLane: Statement
    let newestOfLane: Statement
    /// Whether a damaged file is being put back.
    var isSalvaging = false

    init(path: String, durability: SQLiteConnection.Durability) throws(SQLiteError) {
        var options = SQLiteConnection.Options()
        options.durability = durability
        options.incrementalVacuum = true
        options.cacheKiB = 1024
        connection = try SQLiteConnection(path: path, options: options, migrations: OutboxSchema.migrations)
        // A log that a burst has made long is cut when it starts anew.
        try connection.run("PRAGMA journal_size_limit = 1048576")
        try connection.run("INSERT OR IGNORE INTO boots(boot_id) VALUES(?)", .text(BootID.current))
        boot = try connection.value("SELECT id FROM boots WHERE boot_id = ?", .text(BootID.current))?.integer ?? 0
        let columns = OutboxSchema.pointColumns
        insertPoint = try connection.prepare(
            "INSERT OR IGNORE INTO points(\(columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        findPoint = try connection.prepare(
            """
            SELECT lane, state, length(CAST(value AS BLOB)) + length(CAST(feed AS BLOB)) + 60, attempts FROM points
            WHERE id = ?
            """
        )
        deletePoint = try connection.prepare("DELETE FROM points WHERE id = ?")
        updateState = try connection.prepare("UPDATE points SET state = ?, attempts = attempts + ? WHERE id = ?")
        updateNextID = try connection.prepare("UPDATE facts SET value = ? WHERE name = 'next_id'")
        updateLane = try connection.prepare(
            """
            INSERT OR REPLACE INTO lanes(\(OutboxSchema.laneColumns))
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        oldestOfLane = try connection.prepare(
            "SELECT \(columns) FROM points WHERE lane = ? AND state = ? AND id > ? ORDER BY id LIMIT ?"
        )
        newestOfLane = try connection.prepare(
            "SELECT \(columns) FROM points WHERE lane = ? AND state = ? AND id < ? ORDER BY id DESC LIMIT ?"
        )
        try load()
    }

    private func load() throws(SQLiteError) {
        nextID = try connection.value("SELECT value FROM facts WHERE name = 'next_id'")?.integer ?? 1
        let newest = try connection.value("SELECT max(id) FROM points")?.integer ?? 0
        nextID = max(nextID, newest + 1)
        writtenNextID = nextID
        try connection.run("SELECT \(OutboxSchema.laneColumns) FROM lanes ORDER BY id") { row throws(SQLiteError) in
            guard let lane = Lane(row), lane.number == lanes.count + 1 else {
                throw SQLiteError(code: .corrupt, message: "a row of `lanes` is wrong", action: "read the outbox")
            }
            laneIndexes[lane.key] = lanes.count
            lanes.append(lane)
        }
    }

    /// Runs `body` and commits what it did, with the counts.
    func commit<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        let before = (lanes, laneIndexes, nextID, writtenNextID)
        do {
            return try connection.withTransaction { () throws(SQLiteError) in
                let result = try body()
                try writeCounts()
                return result
            }
        } catch {
            (lanes, laneIndexes, nextID, writtenNextID) = before
            throw error
        }
    }

    private func writeCounts() throws(SQLiteError) {
        if nextID != writtenNextID {
            try updateNextID.run(.integer(nextID))
            writtenNextID = nextID
        }
        guard lanes.contains(where: \.isChanged) else { return }
        for index in lanes.indices where lanes[index].isChanged {
            lanes[index].isChanged = false
            try lanes[index].write(updateLane)
        }
    }

    // MARK: Lanes

    /// The place of a lane in `lanes`; a new one is made.
    func index(of key: Lane.Key) -> Int {
        if let known = laneIndexes[key] { return known }
        let index = lanes.count
        lanes.append(Lane(number: Int64(index + 1), key: key, isChanged: true))
        laneIndexes[key] = index
        return index
    }

    /// Changes the counts of a lane.
    func change(lane index: Int, _ body: (inout Tally) -> Void) {
        body(&lanes[index].tally)
        lanes[index].isChanged = true
    }

    /// The place of the lane with `number`, which a row names.
    func index(ofNumber number: Int64) throws(SQLiteError) -> Int {
        guard number >= 1, number <= lanes.count else {
            throw SQLiteError(code: .corrupt, message: "a point's lane is wrong", action: "read the outbox")
        }
        return Int(number) - 1
    }

    /// The lanes of a feed.
    func lanes(of feed: FeedKey) -> [Lane] { lanes.filter { $0.feed == feed } }

    // MARK: Rows

    /// Puts a row in, its lane by feed and priority; false when there is one with its id. Counts it by its state.
    @discardableResult
    func insert(_ row: PointRow) throws(SQLiteError) -> Bool {
        var row = row
        let index = index(of: Lane.Key(feed: row.feed, priority: row.priority))
        row.lane = lanes[index].number
        try row.bind(to: insertPoint)
        try insertPoint.run()
        guard connection.changes == 1 else { return false }
        let (cost, state) = (row.cost, row.state)
        change(lane: index) { tally in
            tally.rows[state.code] += 1
            tally.bytes += cost
        }
        return true
    }

    /// What is needed to change a row.
    struct Found {
        let lane: Int
        let state: PointState
        let cost: Int64
        let attempts: Int64
    }

    func find(_ id: Int64) throws(SQLiteError) -> Found? {
        try findPoint.bind(id, at: 1)
        guard try findPoint.step() else { return nil }
        defer { findPoint.reset() }
        guard let state = PointState(code: Int(findPoint.integer(at: 1))) else {
            throw SQLiteError(code: .corrupt, message: "a point's state is wrong", action: "read the outbox")
        }
        return Found(
            lane: try index(ofNumber: findPoint.integer(at: 0)),
            state: state,
            cost: findPoint.integer(at: 2),
            attempts: findPoint.integer(at: 3)
        )
    }

    /// Takes a row out, and out of the counts of what is pending.
    func remove(_ id: Int64, _ found: Found) throws(SQLiteError) {
        try deletePoint.bind(id, at: 1)
        try deletePoint.run()
        change(lane: found.lane) { tally in
            tally.rows[found.state.code] -= 1
            tally.bytes -= found.cost
        }
    }

    /// Gives a row another state.
    func set(_ id: Int64, _ found: Found, to state: PointState, addingAttempts attempts: Int = 0) throws(SQLiteError) {
        try updateState.bind(state.code, at: 1)
        try updateState.bind(attempts, at: 2)
        try updateState.bind(id, at: 3)
        try updateState.run()
        change(lane: found.lane) { tally in
            tally.rows[found.state.code] -= 1
            tally.rows[state.code] += 1
        }
    }
}

extension Lane {
    init?(_ row: Statement) {
        guard let feed = row.text(at: 1).flatMap(FeedKey.init), let priority = UInt8(exactly: row.integer(at: 2)) else {
            return nil
        }
        number = row.integer(at: 0)
        key = Key(feed: feed, priority: priority)
        tally.accepted = row.integer(at: 3)
        tally.confirmed = row.integer(at: 4)
        tally.refused = row.integer(at: 5)
        tally.doubt = row.integer(at: 6)
        tally.bytes = row.integer(at: 7)
        tally.missing = row.integer(at: 8)
        for code in 0..<EvictionCause.allCases.count { tally.evicted[code] = row.integer(at: 9 + code) }
        for code in 0..<PointState.allCases.count { tally.rows[code] = row.integer(at: 16 + code) }
    }

    func write(_ statement: Statement) throws(SQLiteError) {
        try statement.bind(number, at: 1)
        try statement.bind(feed.text, at: 2)
        try statement.bind(Int(priority), at: 3)
        for (place, number) in [
            tally.accepted, tally.confirmed, tally.refused, tally.doubt, tally.bytes, tally.missing,
        ].enumerated() {
            try statement.bind(number, at: 4 + place)
        }
        for code in 0..<EvictionCause.allCases.count { try statement.bind(tally.evicted[code], at: 10 + code) }
        for code in 0..<PointState.allCases.count { try statement.bind(tally.rows[code], at: 17 + code) }
        try statement.run()
    }
}
