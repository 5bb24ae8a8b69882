internal import Diagnostics
internal import SQLite

extension RecorderStore {
    /// A reader of the same file, with a thread of its own: long reads do not hold up the recording.
    public nonisolated func makeReader() -> RecordingReader {
        RecordingReader(folder: files.folder)
    }

    /// All sessions, the oldest first, with what has been received up to now.
    public func sessions() throws(RecorderError) -> [Session] {
        let file = try committedFile()
        return try translated { () throws(SQLiteError) in try file.connection.sessions(areRunning: true) }
    }

    /// One session.
    public func session(_ id: Int64) throws(RecorderError) -> Session {
        let file = try committedFile()
        let found = try translated { () throws(SQLiteError) in
            try file.connection.sessions(areRunning: true, only: id)
        }
        guard let session = found.first else { throw .noSuchSession(id) }
        return session
    }

    /// The number of the session that runs.
    public var runningSessionID: Int64? { file?.running?.id }

    /// Deletes a session with all its samples and gives its space back to the disk. Recording goes on meanwhile.
    public func deleteSession(_ id: Int64) async throws(RecorderError) {
        let file = try committedFile()
        guard let state = try translated({ () throws(SQLiteError) in try file.state(ofSession: id) }) else {
            throw .noSuchSession(id)
        }
        guard state != .running else { throw .sessionIsRunning(id) }
        try await deleteSamples(of: id, before: .max)
        try inFile { file throws(SQLiteError) in try file.removeSession(id) }
        try await giveBackSpace()
    }

    /// Removes what is older than the always store keeps.
    public func expire() async throws(RecorderError) {
        let limit = (time.wall() - settings.keepOutside).nanoseconds
        try await deleteSamples(of: nil, before: limit)
        try await giveBackSpace()
    }

    /// Puts right what was recorded in the boot `bootID` while the wall clock was wrong: `offset` is added to its times.
    public func fixUp(bootID: String, offset: Duration) async throws(RecorderError) {
        let file = try committedFile()
        let offset = offset.nanoseconds
        let holdings = try translated { () throws(SQLiteError) in
            try file.fixUpSessions(ofBoot: try file.number(ofBoot: bootID), by: offset)
        }
        if let running = file.running, let reason = runningSession?.reason { runningSession = (running, reason) }
        for holding in holdings {
            var moved = RecordingFile.Moved()
            var from: Int64? = holding.first
            while let start = from {
                from = try inFile { file throws(SQLiteError) in
                    try file.fixUpSamples(of: holding, by: offset, from: start, limit: 5000, moved: &moved)
                }
                await Task.yield()
            }
            try inFile { file throws(SQLiteError) in try file.finishFixUp(of: holding, moved: moved) }
        }
    }

    private func committedFile() throws(RecorderError) -> RecordingFile {
        try commit(synced: false)
        guard let file else { throw condition ?? .closed }
        return file
    }

    /// In small steps, so that commits come in between; the file may be another one after each.
    private func deleteSamples(of session: Int64?, before end: Int64) async throws(RecorderError) {
        let holdings = try inFile { file throws(SQLiteError) in
            try file.holdings(ofSession: session ?? RecordingSchema.alwaysStore)
        }
        guard !holdings.isEmpty else { return }
        for holding in holdings {
            var from: Int64? = holding.first
            let last = min(holding.last, session == nil ? end - 1 : end)
            while let start = from {
                from = try inFile { file throws(SQLiteError) in
                    try file.deleteSamples(of: holding, from: start, to: last, limit: 5000)
                }
                await Task.yield()
            }
        }
        try inFile { file throws(SQLiteError) in try file.dropEmptyTables() }
    }

    private func giveBackSpace() async throws(RecorderError) {
        while try inFile({ file throws(SQLiteError) in try file.giveBackSpace() }) {
            await Task.yield()
        }
    }

    private func inFile<Result>(
        _ body: (RecordingFile) throws(SQLiteError) -> Result
    ) throws(RecorderError) -> Result {
        guard let file else { throw condition ?? .closed }
        return try translated { () throws(SQLiteError) in try body(file) }
    }
}
