internal import Diagnostics
internal import SQLite
public import Samples

/// Samples of another time and place, such as a phone's history: a session of their own, which takes nothing that is
/// recorded here, whatever its span.
extension RecorderStore {
    /// Begins a session for an import. It runs beside what is being recorded, until `endImport`.
    public func beginImport() throws(RecorderError) -> Int64 {
        let now = time.wall().nanoseconds
        return try inImport { file throws(SQLiteError) in
            try file.beginImport(at: now, host: settings.host, software: settings.software)
        }
    }

    /// Writes samples into the session of an import; they are on the disk when it returns.
    public func importSamples(_ batch: SampleBatch, into session: Int64) throws(RecorderError) {
        guard !batch.isEmpty else { return }
        let count = try inImport { file throws(SQLiteError) -> Int? in
            guard try file.isImport(session) else { return -1 }
            return try file.insert(batch, into: session, keepOutside: false, unsynchronisedBoot: nil)
        }
        guard let count else { throw .refused(batch.stream.name) }
        guard count >= 0 else { throw .noSuchSession(session) }
    }

    /// Ends the session of an import: its span is that of its samples. Without samples it is removed.
    public func endImport(_ session: Int64) throws(RecorderError) {
        let isThere = try inImport { file throws(SQLiteError) -> Bool in
            guard try file.isImport(session) else { return false }
            try file.endImport(session)
            return true
        }
        guard isThere else { throw .noSuchSession(session) }
    }

    private func inImport<Result>(
        _ body: (RecordingFile) throws(SQLiteError) -> Result
    ) throws(RecorderError) -> Result {
        // What waits goes first: a commit that fails leaves the file to be opened anew.
        try commit(synced: false)
        guard let file else { throw condition ?? .closed }
        return try translated { () throws(SQLiteError) in
            try file.commit { () throws(SQLiteError) in try body(file) }
        }
    }
}
