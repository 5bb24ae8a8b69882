internal import Diagnostics
internal import SQLite
internal import Samples

extension RecordingFile {
    /// Where samples of a range of times belong.
    struct Placement {
        let session: Int64?
        let times: ClosedRange<Int64>
    }

    /// The session whose span holds the time: the one that started last, if there are several.
    func placement(of time: Int64) -> Placement {
        var lower = Int64.min
        var upper = Int64.max
        for span in spans.reversed() {
            if time < span.start {
                upper = min(upper, span.start - 1)
                continue
            }
            let end = span.end ?? .max
            if time <= end {
                return Placement(session: span.id, times: max(lower, span.start)...min(upper, end))
            }
            lower = max(lower, end + 1)
        }
        return Placement(session: nil, times: lower...upper)
    }

    /// Inserts the samples, each into the session that holds its time; others into the always store, or nowhere.
    ///
    /// All go into `session` where it is given. Says how many were inserted; nil when the limits refuse the stream.
    func insert(
        _ batch: SampleBatch,
        into session: Int64? = nil,
        keepOutside: Bool,
        unsynchronisedBoot boot: Int64?
    ) throws(SQLiteError) -> Int? {
        guard let table = try table(for: batch.stream) else { return nil }
        let insert = table.insert
        let times = batch.times
        let values = batch.values
        let width = batch.stream.fields.count
        var inserted = 0
        var run = Addition()
        var place = Placement(session: nil, times: 1...1)
        var isPlaced = false

        for row in 0..<times.count {
            let time = times[row].nanoseconds
            if !isPlaced || !place.times.contains(time) {
                note(run, table: table, session: place.session, boot: boot)
                run = Addition()
                place = session.map { Placement(session: $0, times: .min ... .max) } ?? placement(of: time)
                isPlaced = true
            }
            guard place.session != nil || keepOutside else { continue }
            try bind(session: place.session, boot: boot, of: table)
            try insert.bind(time, at: 1)
            let start = row * width
            for field in 0..<width {
                // Nearly all: read without a copy of the value, which could be a text.
                if case .real(let number) = values[start + field] {
                    try insert.bind(number, at: field + 5)
                    continue
                }
                switch values[start + field] {
                case .real(let number): try insert.bind(number, at: field + 5)
                case .missing: try insert.bindNull(at: field + 5)
                case .integer(let number): try insert.bind(number, at: field + 5)
                case .flag(let flag): try insert.bind(flag ? 1 : 0, at: field + 5)
                case .text(let text): try bindText(text, at: field, of: table)
                }
            }
            try insert.run()
            if connection.changes == 0 { try insertTied(time, into: table) }
            run.add(time)
            inserted += 1
        }
        note(run, table: table, session: place.session, boot: boot)
        return inserted
    }

    private func bind(session: Int64?, boot: Int64?, of table: StreamTable) throws(SQLiteError) {
        if table.boundSession != session {
            if let session { try table.insert.bind(session, at: 2) } else { try table.insert.bindNull(at: 2) }
            table.boundSession = session
        }
        if table.boundBoot != boot {
            if let boot { try table.insert.bind(boot, at: 3) } else { try table.insert.bindNull(at: 3) }
            table.boundBoot = boot
        }
    }

    private func bindText(_ text: String, at field: Int, of table: StreamTable) throws(SQLiteError) {
        // A text in a column of numbers would be turned into one by SQLite's type affinity, or stay and surprise readers.
        if table.stream.fields[field].kind == .text {
            try table.insert.bind(text, at: field + 5)
        } else {
            try table.insert.bindNull(at: field + 5)
        }
    }

    /// Inserts the bound sample at the next free nanosecond after its time; at the end of time, at the last free before.
    private func insertTied(_ time: Int64, into table: StreamTable) throws(SQLiteError) {
        let known = table.taken.flatMap { $0.contains(time) ? $0 : nil } ?? time...time
        var key = known.upperBound
        var step: Int64 = 1
        repeat {
            if key == .max { (key, step) = (time, -1) }
            key += step
            try table.insert.bind(key, at: 1)
            try table.insert.bind(key - time, at: 4)
            try table.insert.run()
        } while connection.changes == 0
        table.taken = step > 0 ? known.lowerBound...key : nil
        try table.insert.bindNull(at: 4)
    }

    private func note(_ run: Addition, table: StreamTable, session: Int64?, boot: Int64?) {
        guard run.samples > 0 else { return }
        let place = Place(
            stream: table.id,
            session: session ?? RecordingSchema.alwaysStore,
            boot: boot ?? RecordingSchema.rightClock
        )
        if place != newest.place {
            flushNewest()
            newest.place = place
        }
        newest.addition.merge(run)
    }

    /// Puts what the newest runs of samples add to one place with the rest.
    func flushNewest() {
        if newest.addition.samples > 0 { additions[newest.place, default: Addition()].merge(newest.addition) }
        newest.addition = Addition()
    }

    /// Counts samples that a full buffer dropped, for the session that runs.
    func noteDrops(_ count: Int, of stream: Stream) throws(SQLiteError) {
        if let table = try table(for: stream) {
            let place = Place(stream: table.id, session: running?.id ?? RecordingSchema.alwaysStore)
            additions[place, default: Addition()].drops += count
        }
        guard let running else { return }
        try connection.run(
            "UPDATE _sessions SET drops = drops + ? WHERE id = ?",
            .integer(Int64(count)),
            .integer(running.id)
        )
    }
}

extension RecordingFile.Addition {
    mutating func merge(_ other: RecordingFile.Addition) {
        samples += other.samples
        drops += other.drops
        first = min(first, other.first)
        last = max(last, other.last)
    }
}
