internal import DataPoints
internal import Diagnostics
internal import SQLite

/// How far the salvage of a file that was set aside has come.
struct SalvageStep {
    enum Phase: Int {
        /// Row by row through SQLite.
        case rows = 0
        /// Page by page without SQLite.
        case pages = 1
        /// Page by page through a log alone.
        case logPages = 2
        case done = 3
    }

    let path: String
    var phase: Phase
    var position: Int64
    /// Ids from here on are of the file in use.
    let firstID: Int64
    var found: Int
}

extension OutboxFile {
    /// Begins the salvage of `path`. The ids of the file in use go on far above those of the old one.
    ///
    /// The old counts are taken over; points that the old file had are `missing` until they are found.
    func beginSalvage(of path: String, phase: SalvageStep.Phase, above known: Int64, now: Timestamp) throws(SQLiteError)
    {
        let firstNew = nextID
        // Nobody writes 4,096 points a second for years: seconds so scaled are above all ids of an earlier file.
        nextID = max(nextID, known, 1 << 40, now.nanoseconds / 1_000_000_000 << 12)
        let limit = phase == .logPages ? firstNew : nextID
        try connection.run(
            "INSERT OR REPLACE INTO salvages(path, phase, position, first_id, found) VALUES(?, ?, ?, ?, 0)",
            .text(path),
            .integer(Int64(phase.rawValue)),
            .integer(phase == .rows ? .min : 1),
            .integer(limit)
        )
        isSalvaging = true
    }

    /// Takes over what the old file says of the past, its dead letters included.
    func takeOver(lanes old: [Lane], deadLetters: [(row: PointRow, reason: String)]) throws(SQLiteError) {
        for lane in old {
            let evicted = lane.tally.evicted.wrappedSum()
            change(lane: index(of: lane.key)) { tally in
                tally.accepted += lane.tally.confirmed + lane.tally.refused + evicted
                tally.confirmed += lane.tally.confirmed
                tally.refused += lane.tally.refused
                tally.evicted &+= lane.tally.evicted
                tally.doubt += lane.tally.doubt
                tally.missing += lane.tally.pending + lane.tally.missing
            }
        }
        let columns = OutboxSchema.pointColumns
        let insert = try connection.prepare(
            "INSERT OR IGNORE INTO dead(\(columns), reason) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for letter in deadLetters {
            var row = letter.row
            row.lane = lanes[index(of: Lane.Key(feed: row.feed, priority: row.priority))].number
            try row.bind(to: insert)
            try insert.bind(letter.reason, at: 15)
            try insert.run()
        }
    }

    /// A salvage that is not done.
    func unfinishedSalvage() throws(SQLiteError) -> SalvageStep? {
        var step: SalvageStep?
        try connection.run(
            "SELECT path, phase, position, first_id, found FROM salvages WHERE phase <> 3 ORDER BY path LIMIT 1"
        ) { row in
            step = SalvageStep(
                path: row.text(at: 0) ?? "",
                phase: SalvageStep.Phase(rawValue: Int(row.integer(at: 1))) ?? .done,
                position: row.integer(at: 2),
                firstID: row.integer(at: 3),
                found: Int(row.integer(at: 4))
            )
        }
        return step
    }

    /// Notes how far a salvage has come.
    func note(_ step: SalvageStep) throws(SQLiteError) {
        try connection.run(
            "UPDATE salvages SET phase = ?, position = ?, found = ? WHERE path = ?",
            .integer(Int64(step.phase.rawValue)),
            .integer(step.position),
            .integer(Int64(step.found)),
            .text(step.path)
        )
    }

    /// Puts rows of a damaged file back, each id once; says how many. Those found without SQLite's help may have left
    /// long ago: they are in doubt.
    func putBack(_ rows: [PointRow], _ step: SalvageStep, boots: [Int64: String]) throws(SQLiteError) -> Int {
        var count = 0
        let note = try connection.prepare("INSERT OR IGNORE INTO salvaged(id, is_confirmed) VALUES(?, 0)")
        let ask = try connection.prepare("SELECT is_confirmed FROM salvaged WHERE id = ?")
        for row in rows {
            var row = row
            // In a log alone older rows are those of the file itself, or have left it.
            if step.phase == .logPages, row.id < step.firstID { continue }
            try note.run(.integer(row.id))
            let isFirst = connection.changes == 1
            var isConfirmed = false
            if !isFirst {
                try ask.bind(row.id, at: 1)
                if try ask.step() { isConfirmed = ask.integer(at: 0) == 1 }
                ask.reset()
                guard isConfirmed else { continue }
                try connection.run("UPDATE salvaged SET is_confirmed = 0 WHERE id = ?", .integer(row.id))
            }
            let lane = index(of: Lane.Key(feed: row.feed, priority: row.priority))
            change(lane: lane) { tally in
                tally.accepted += 1
                tally.missing = max(0, tally.missing - 1)
                if isConfirmed { tally.confirmed += 1 }
            }
            count += 1
            if isConfirmed { continue }
            // The number of a boot is another one in this file.
            row.boot = try boots[row.boot].map { id throws(SQLiteError) in try number(ofBoot: id) } ?? 0
            if row.state == .sending || (row.state != .untimed && step.phase != .rows) { row.state = .doubt }
            if row.state == .held { row.state = .waiting }
            // Only with a clock that was wrong by years can a new point have the id already.
            let old = row.id
            while try !insert(row) {
                row.id = nextID
                nextID += 1
            }
            if row.id != old { try note.run(.integer(row.id)) }
        }
        return count
    }

    private func number(ofBoot id: String) throws(SQLiteError) -> Int64 {
        try connection.run("INSERT OR IGNORE INTO boots(boot_id) VALUES(?)", .text(id))
        return try connection.value("SELECT id FROM boots WHERE boot_id = ?", .text(id))?.integer ?? 0
    }

    /// A point was confirmed that has not been put back yet.
    func noteConfirmed(_ id: Int64) throws(SQLiteError) {
        try connection.run("INSERT OR IGNORE INTO salvaged(id, is_confirmed) VALUES(?, 1)", .integer(id))
    }

    /// Ends all salvages: what is still missing is lost, and counted so. Says how many points that are.
    func endSalvages() throws(SQLiteError) -> Int {
        var lost = 0
        for index in lanes.indices where lanes[index].tally.missing > 0 {
            change(lane: index) { tally in
                lost += Int(tally.missing)
                tally.accepted += tally.missing
                tally.evicted[EvictionCause.damage.code] += tally.missing
                tally.missing = 0
            }
        }
        try connection.run("DELETE FROM salvaged")
        isSalvaging = false
        return lost
    }
}
