internal import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxStore {
    /// Writes what waits, now.
    public func flush() throws(OutboxError) { try commit() }

    /// Commits, and takes the outcome of an entry. The commit of another call may have dealt with it already.
    func finish(_ ticket: Int) throws(OutboxError) -> Int {
        var problem: OutboxError?
        do throws(OutboxError) {
            try commit()
        } catch {
            problem = error
        }
        guard let outcome = outcomes.removeValue(forKey: ticket) else { throw problem ?? failure ?? .closed }
        return try outcome.get()
    }

    func commit() throws(OutboxError) {
        let taken = buffer.withLock { $0.take() }
        backlog += taken.items
        do throws(SQLiteError) {
            if !backlog.isEmpty || !taken.drops.isEmpty || file == nil { try write(taken.drops) }
            try fixUpTimes()
        } catch {
            try recover(from: error)
        }
        if failure != nil {
            failure = nil
            log.info("the outbox can be written again")
        }
        tidyUp()
    }

    /// Deals with what the database said: a damaged file is replaced, a full disk is told to the buffer. Then it writes
    /// what was not written.
    func recover(from error: SQLiteError) throws(OutboxError) {
        if error.isCorrupt {
            do throws(OutboxError) {
                try replaceDamagedFile(error)
            } catch {
                failed(error, isEnvironmental: true)
                throw error
            }
        } else if error.isFull {
            becomeFull()
        } else {
            failed(.database(error), isEnvironmental: error.isEnvironmental)
            throw .database(error)
        }
        do throws(SQLiteError) {
            try write([:])
        } catch {
            failed(.database(error), isEnvironmental: error.isEnvironmental || error.isCorrupt)
            throw .database(error)
        }
    }

    /// Writes the backlog in transactions of a moderate size.
    private func write(_ drops: [OutboxBuffer.Drop: Int]) throws(SQLiteError) {
        if file == nil {
            try openFile()
            showCounts()
        }
        guard let file else { return }
        if !drops.isEmpty {
            try file.commit { file.count(drops) }
            let lanes = file.lanes
            buffer.withLock { $0.committed(drops: drops, lanes: lanes) }
        }
        let most = min(1 << 20, max(settings.maxBytes / 16, 32 << 10))
        while !backlog.isEmpty {
            var bytes = 0
            let part = Array(
                backlog.prefix { item in
                    bytes += item.bytes
                    return bytes == item.bytes || bytes <= most
                }
            )
            try write(part, to: file)
            let lanes = file.lanes
            buffer.withLock { $0.committed(part, lanes: lanes) }
            backlog.removeFirst(part.count)
        }
    }

    private func write(_ part: [OutboxBuffer.Item], to file: OutboxFile) throws(SQLiteError) {
        let incoming = part.reduce(0) { $0 + $1.bytes }
        var circumstances = OutboxFile.Circumstances()
        circumstances.isFull = incoming > 0 ? try !makeRoom(for: incoming, in: file) : false
        circumstances.oldest = oldestAllowed
        var results: [Int: Result<Int, OutboxError>] = [:]
        var isNews = false
        var inserted: [OutboxPoint] = []
        try file.commit { () throws(SQLiteError) in
            for item in part {
                switch item.entry {
                case .points(let batch):
                    if item.ticket != nil, circumstances.isFull {
                        results[item.ticket ?? 0] = .failure(.full)
                        continue
                    }
                    let evicted = try file.append(batch, circumstances) { inserted.append($0) }
                    if let ticket = item.ticket { results[ticket] = .success(batch.points.count - evicted) }
                case .change(let change):
                    let count = try file.apply(change)
                    if case .state(_, .waiting) = change, count > 0 { isNews = true }
                    if case .refused = change { try file.trimDeadLetters(to: settings.maxDeadLetters) }
                    if let ticket = item.ticket { results[ticket] = .success(count) }
                }
            }
        }
        outcomes.merge(results) { _, new in new }
        if circumstances.isFull { sayEvicting() }
        if !inserted.isEmpty { announce(inserted) }
        if isNews { announce() }
    }

    private func fixUpTimes() throws(SQLiteError) {
        guard let file, let offset = buffer.withLock({ $0.offsetToFixUp }) else { return }
        var sum = 0
        while true {
            let count = try file.commit { () throws(SQLiteError) in try file.fixUp(offset: offset, limit: 500) }
            guard count > 0 else { break }
            sum += count
        }
        buffer.withLock { $0.offsetToFixUp = nil }
        guard sum > 0 else { return }
        oldestKnown = .min
        showCounts()
        announce()
        log.info("\(sum) points got their right time, now that the clock is right")
    }

    /// Points made before this are too old; nil while nobody has said that the clock is right.
    var oldestAllowed: Int64? {
        buffer.withLock { $0.rightOffset }.map { time.boot().nanoseconds &+ $0 &- settings.maxAge.nanoseconds }
    }

    /// The disk is full: the reserve is for what leaves, and new points are dropped until there is room.
    private func becomeFull() {
        reserve.release()
        if !isDiskFull { log.error("\(OutboxError.diskFull(path: files.database))") }
        isDiskFull = true
        buffer.withLock { $0.isDiskFull = true }
        giveUpPoints(.disk, .diskFull(path: files.database))
        // The transaction that found no room has left a long log.
        _ = try? file?.connection.checkpoint()
        wake.yield()
    }

    private func giveUpPoints(_ cause: EvictionCause, _ problem: OutboxError) {
        let points = backlog.filter { if case .points = $0.entry { true } else { false } }
        backlog.removeAll { if case .points = $0.entry { true } else { false } }
        for item in points {
            if let ticket = item.ticket { outcomes[ticket] = .failure(problem) }
        }
        buffer.withLock { $0.giveUp(points, cause) }
    }

    /// Keeps what nobody waits for, for another try; who waits is told.
    private func failed(_ error: OutboxError, isEnvironmental: Bool) {
        let waited = backlog.filter { $0.ticket != nil }
        backlog.removeAll { $0.ticket != nil }
        for item in waited { outcomes[item.ticket ?? 0] = .failure(error) }
        buffer.withLock { $0.giveUp(waited, .disk) }
        // Trying again cannot help.
        if !isEnvironmental { giveUpPoints(.damage, error) }
        // Opened again with the next try: what the object remembers may not be what the file holds.
        file = nil
        wake.yield()
        if failure == nil { log.error("\(error)") }
        failure = error
    }
}
