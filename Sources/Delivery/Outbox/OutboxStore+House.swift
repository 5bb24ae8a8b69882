internal import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxStore {
    /// Writes what waits, keeps the file small and puts back what a damaged file held, until the task is cancelled.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.commitWhenWoken() }
            group.addTask { try await self.keepHouse() }
            group.addTask { try await self.salvageWhenWoken() }
            group.addTask { await self.verify() }
            defer { group.cancelAll() }
            while try await group.next() != nil {}
        }
    }

    private func commitWhenWoken() async throws {
        defer { try? commit() }
        for await _ in wakes {
            try await time.sleep(for: settings.commitWithin)
            try? commit()
            while failure != nil {
                try await time.sleep(for: .seconds(1))
                try? commit()
            }
        }
    }

    private func keepHouse() async throws {
        var minute = time.boot()
        while true {
            try await time.sleep(for: .seconds(1))
            recoverRoom()
            guard time.boot() >= minute else { continue }
            minute = time.boot().advanced(by: .seconds(60))
            do {
                try await expire()
            } catch {
                log.warning("cannot remove old points: \(error)")
            }
        }
    }

    private func salvageWhenWoken() async throws {
        for await _ in salvageWakes {
            do {
                try await salvage()
            } catch {
                log.warning("cannot put back what damaged files hold: \(error)")
                try await time.sleep(for: .seconds(60))
                salvageWake.yield()
            }
        }
    }

    /// Looks through the whole file once, beside the writer: damage is found before it is needed.
    func verify() async {
        let path = files.database
        let looker = BlockingExecutor(label: "outbox check")
        let problems = await looker.run { () -> [String] in
            let connection = try? SQLiteConnection(path: path, mode: .readOnly)
            guard let connection else { return [] }
            return (try? connection.integrityProblems(.quick, atMost: 3)) ?? []
        }
        guard let first = problems.first else { return }
        let error = SQLiteError(code: .corrupt, message: first, action: "read \(path)")
        do {
            try recover(from: error)
        } catch {
            log.error("\(error)")
        }
    }

    /// Evicts points that are too old. It looks only when one may have become so.
    public func expire() async throws(OutboxError) {
        guard let limit = oldestAllowed, oldestKnown < limit else { return }
        var oldest = Int64.max
        var position: Int64? = .min
        while let start = position {
            let step = try inFile { file throws(SQLiteError) in
                try file.evictOld(before: limit, after: start, count: 5000)
            }
            position = step.next
            oldest = min(oldest, step.oldest)
            await Task.yield()
        }
        // What came meanwhile was looked at by `append`, and may be a day old: the next look is tomorrow at the latest.
        oldestKnown = min(oldest, limit &+ 86_400_000_000_000)
    }

    /// Makes room for `bytes` by the policy; false when new points are to go.
    ///
    /// The bound holds for the file and its log together after each commit; while room is made the log may be longer by
    /// what one step writes.
    func makeRoom(for bytes: Int, in file: OutboxFile) throws(SQLiteError) -> Bool {
        if try fits(bytes, file) { return true }
        try file.connection.checkpoint()
        if try fits(bytes, file) { return true }
        try giveAllBack(file)
        if try fits(bytes, file) { return true }
        guard settings.whenFull != .dropNewest else { return false }
        sayEvicting()
        let target = settings.maxBytes - settings.maxBytes / 50 - bytes - logGrowth(bytes)
        while try file.usedBytes() > target {
            var pass = roomPass
            let goesOn = try file.commit { () throws(SQLiteError) in
                try file.makeRoom(&pass, thinning: settings.whenFull == .thin, count: 500)
            }
            roomPass = pass
            if files.files.logBytes() > settings.maxBytes / 16 { try file.connection.checkpoint() }
            if goesOn { continue }
            if pass.evicted == 0 { break }
            roomPass = OutboxFile.RoomPass()
        }
        try giveAllBack(file)
        return try fits(bytes, file)
    }

    private func fits(_ bytes: Int, _ file: OutboxFile) throws(SQLiteError) -> Bool {
        let size = try file.connection.size()
        let growth = max(0, bytes - size.freePages * size.pageBytes)
        return size.bytes + growth + files.files.logBytes() + logGrowth(bytes) <= settings.maxBytes
    }

    /// What a commit of points may add to the log: their pages, and those of the indexes and counts.
    private func logGrowth(_ bytes: Int) -> Int { bytes * 3 / 2 + (64 << 10) }

    private func giveAllBack(_ file: OutboxFile) throws(SQLiteError) {
        let free = try file.connection.size().freePages
        if free > 0 { try file.connection.giveBackSpace(pages: free) }
        try file.connection.checkpoint()
    }

    func sayEvicting() {
        guard !saidEvicting else { return }
        saidEvicting = true
        let what =
            switch settings.whenFull {
            case .thin: "every second of the oldest points goes"
            case .dropOldest: "the oldest points go"
            case .dropNewest: "new points are dropped"
            }
        log.warning("the outbox \(files.database) has its \(settings.maxBytes >> 20) MB: \(what), counted by feed")
    }

    /// Gives pages that hold nothing back to the disk, a few at a time.
    func tidyUp() {
        // On a full disk the log must not take what the reserve gave free.
        if isDiskFull { _ = try? file?.connection.checkpoint() }
        guard let file, let size = try? file.connection.size(), size.freePages > 64 else { return }
        do {
            try file.connection.giveBackSpace(pages: min(size.freePages - 32, 256))
        } catch {
            log.debug("cannot give space back: \(error)")
        }
    }

    /// When the disk was full: shrinks the file, and takes points again once the reserve fits and as much is free.
    func recoverRoom() {
        guard isDiskFull else { return }
        if file == nil { try? commit() }
        guard let file else { return }
        _ = try? file.connection.giveBackSpace(pages: 1000)
        _ = try? file.connection.checkpoint()
        guard let free = files.files.freeBytes(), free >= reserve.bytes * 2, reserve.hold() else { return }
        isDiskFull = false
        buffer.withLock { $0.isDiskFull = false }
        log.info("there is room on the disk again: the outbox takes points")
        try? commit()
    }
}
