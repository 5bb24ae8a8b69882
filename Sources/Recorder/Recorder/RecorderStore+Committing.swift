internal import Diagnostics
internal import SQLite
internal import Samples

extension RecorderStore {
    /// Writes what waits; a failure is tried again until the task is cancelled, which writes once more and ends.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.commitWhenWoken() }
            group.addTask { try await self.keepHouse() }
            group.addTask { try await self.salvageWhenWoken() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func commitWhenWoken() async throws {
        defer { try? commit(synced: true) }
        for await _ in wakes {
            try await time.sleep(for: settings.commitEvery)
            try? flush()
            while failure != nil {
                try await time.sleep(for: .seconds(1))
                try? flush()
            }
            await fixUpTimes()
            if !isSynced {
                // The last samples of a burst, too, are on the disk within a second.
                let rest = settings.syncEvery - lastSync.duration(to: time.boot())
                if buffer.withLock({ $0.items.isEmpty }), rest > .zero { try await time.sleep(for: rest) }
                if buffer.withLock({ $0.items.isEmpty }) { try? commit(synced: true) }
            }
        }
    }

    /// Puts right what was recorded in this boot with a wrong clock, when that is known to be due.
    func fixUpTimes() async {
        guard let offset = buffer.withLock({ $0.takeFixUp() }) else { return }
        do {
            try await fixUp(bootID: BootID.current, offset: offset)
            log.info("what was recorded with a wrong clock got its right time")
        } catch {
            log.warning("times cannot be put right yet: \(error)")
            buffer.withLock { $0.putBack(fixUp: offset) }
        }
    }

    private func keepHouse() async throws {
        while true {
            do {
                try await expire()
            } catch .database(let error) where error.isCorrupt && file != nil {
                try? replaceDamagedFile(error)
            } catch {
                log.warning("cannot remove old samples: \(error)")
            }
            try await time.sleep(for: .seconds(3600))
        }
    }

    /// Writes what waits, now.
    public func flush() throws(RecorderError) {
        let due = lastSync.duration(to: time.boot()) >= settings.syncEvery
        try commit(synced: due)
    }

    /// What the newest commit failed with, and what is tried again; nil while all is well.
    public var condition: RecorderError? { failure.map { .database($0) } }

    /// Less room than this on a disk that was full is not worth a try: writing and undoing all that waits costs time.
    private static let leastRoom = 256 * 1024

    func commit(synced: Bool) throws(RecorderError) {
        let taken = buffer.withLock { $0.take() }
        if backlog.isEmpty { backlog = taken.items } else { backlog.append(contentsOf: taken.items) }
        for (name, drop) in taken.drops { pendingDrops[name, default: (drop.stream, 0)].count += drop.count }
        guard !backlog.isEmpty || !pendingDrops.isEmpty || file == nil else {
            if synced, !isSynced { try sync() }
            return
        }

        if let failure, failure.isFull, let free = files.freeBytes(), free < RecorderStore.leastRoom {
            failed(failure)
            throw .database(failure)
        }
        do throws(SQLiteError) {
            if file == nil { try openFile() }
            try write()
        } catch {
            guard error.isCorrupt, (try? replaceDamagedFile(error)) != nil, (try? write()) != nil else {
                failed(error)
                throw .database(error)
            }
        }
        succeeded()
        if synced { try sync() }
    }

    private func sync() throws(RecorderError) {
        try translated { () throws(SQLiteError) in try file?.syncLog() }
        isSynced = true
        lastSync = time.boot()
    }

    private func write() throws(SQLiteError) {
        guard let file else { return }
        var results: [Int: Result<Int64?, RecorderError>] = [:]
        var refusals: [(Stream, Int)] = []
        try file.commit { () throws(SQLiteError) in
            // Starts and stops first: where a sample belongs depends on its time alone, not on the order of the calls.
            for item in backlog where item.isControl {
                let result = try obey(item, in: file)
                if let ticket = item.ticket { results[ticket] = result }
            }
            for item in backlog {
                guard case .samples(let batch, let keepOutside) = item.entry else { continue }
                let boot = item.isSynchronised ? nil : try file.number(ofBoot: BootID.current)
                let count = try file.insert(batch, keepOutside: keepOutside, unsynchronisedBoot: boot)
                if let ticket = item.ticket {
                    results[ticket] = count == nil ? .failure(.refused(batch.stream.name)) : .success(nil)
                } else if count == nil {
                    refusals.append((batch.stream, batch.count))
                }
            }
            for drop in pendingDrops.values { try file.noteDrops(drop.count, of: drop.stream) }
        }
        outcomes.merge(results) { _, new in new }
        for (stream, count) in refusals {
            buffer.withLock { $0.drop(count, of: stream) }
            if refused.insert(stream.name).inserted { log.error("\(RecorderError.refused(stream.name))") }
        }
    }

    /// Does what an item asks for; the session's number, or why not. Samples ask for nothing.
    private func obey(
        _ item: SampleBuffer.Item,
        in file: RecordingFile
    ) throws(SQLiteError) -> Result<Int64?, RecorderError> {
        let boot = item.isSynchronised ? nil : try file.number(ofBoot: BootID.current)
        switch item.entry {
        case .start(let reason, let start):
            if let running = file.running { return .failure(.alreadyRecording(session: running.id)) }
            return .success(
                try file.startSession(
                    at: start.nanoseconds,
                    reason: reason,
                    host: settings.host,
                    software: settings.software,
                    boot: boot
                )
            )
        case .stop(let reason, let end):
            return .success(try file.stopSession(at: end.nanoseconds, reason: reason, boot: boot))
        case .mark(let text, let moment):
            guard let running = file.running else { return .failure(.notRecording) }
            try file.addMark(text, at: moment.nanoseconds, session: running.id, boot: boot)
            return .success(running.id)
        case .samples:
            return .success(nil)
        }
    }

    private func succeeded() {
        for item in backlog {
            if case .start(let reason, _) = item.entry, let running = file?.running {
                runningSession = (running, reason)
            }
        }
        if file?.running == nil { runningSession = nil }
        release(backlog)
        backlog = []
        pendingDrops = [:]
        isSynced = false
        if failure != nil {
            failure = nil
            buffer.withLock { $0.isFailing = false }
            log.info("recording works again")
        }
    }

    /// Keeps the samples for another try, as far as they have room; who waits is told.
    func failed(_ error: SQLiteError) {
        let ours = RecorderError.database(error)
        var kept: [SampleBuffer.Item] = []
        for item in backlog {
            if let ticket = item.ticket {
                outcomes[ticket] = .failure(ours)
                if case .stop = item.entry, error.isEnvironmental {
                    // Nobody asks for it again: the session ends at that moment as soon as the disk takes it.
                    kept.append(
                        SampleBuffer.Item(
                            entry: item.entry,
                            isSynchronised: item.isSynchronised,
                            bytes: item.bytes,
                            ticket: nil
                        )
                    )
                } else {
                    release([item])
                }
            } else if error.isEnvironmental {
                kept.append(item)
            } else {
                // Trying again cannot help.
                release([item])
                if case .samples(let batch, _) = item.entry {
                    buffer.withLock { $0.drop(batch.count, of: batch.stream) }
                }
            }
        }
        backlog = kept
        // Opened again with the next try: what the object remembers may not be what the file holds.
        file = nil
        wake.yield()
        if failure == nil { log.error("\(ours)") }
        failure = error
        buffer.withLock { $0.isFailing = true }
    }

    private func release(_ items: [SampleBuffer.Item]) {
        let bytes = items.reduce(0) { $0 + $1.bytes }
        buffer.withLock { $0.release(bytes) }
    }
}
