internal import Diagnostics
internal import SQLite

/// Small pieces of state that survive a restart: `state.sqlite`.
///
/// One owner, one executor of its own; each write is committed when the call returns, or kept in memory and tried again
/// while the disk does not take it.
actor KeyValueStore {
    /// How the file is.
    struct Condition: Sendable {
        /// What the newest write failed with, and what is tried again; nil while all is well.
        var failure: SQLiteError?
        /// Damaged files that lie beside it, set aside by this or an earlier process.
        var damagedFiles: [String]
    }

    private let executor = BlockingExecutor(label: "feedbridge.state")
    private let files: DatabaseFiles
    private let time: any TimeSource
    private let log: Log
    private var file: StateFile?
    /// What could not be written yet.
    private var unwritten: [String: String] = [:]
    private var failure: SQLiteError?
    /// Whether this process has found the file damaged: what is missing may be lost, and not new.
    private(set) var wasDamaged = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(_ files: DatabaseFiles, _ time: any TimeSource, _ log: Log) {
        (self.files, self.time, self.log) = (files, time, log)
    }

    /// Opens or makes the file in `folder`. A damaged one is set aside, and what can be read is put into a new one.
    static func open(folder: String, time: any TimeSource, log: Log) async throws(SQLiteError) -> KeyValueStore {
        let store = KeyValueStore(DatabaseFiles(folder: folder, name: "state"), time, log)
        try await store.open()
        return store
    }

    private func open() throws(SQLiteError) {
        do throws(SQLiteError) {
            // Of a broken log SQLite would pass over the newest part without a word.
            if LogImage(path: files.database + "-wal", checking: true)?.isBroken == true {
                throw SQLiteError(code: .corrupt, message: "the log is broken", action: "read \(files.database)")
            }
            file = try StateFile(path: files.database)
        } catch {
            if error.isCorrupt {
                try replaceDamagedFile(error)
            } else {
                // Whoever made the disk full may make room; what else is wrong is for a person.
                guard error.isFull else { throw error }
                failed(error)
                // SQLite needs room even to read; the bytes are there.
                unwritten = StateFile.salvage(files.database)
            }
        }
    }

    /// How the file is now.
    var condition: Condition { Condition(failure: failure, damagedFiles: files.damaged()) }

    /// The value of `key`.
    func value(_ key: String) -> String? {
        if let value = unwritten[key] { return value }
        do throws(SQLiteError) {
            if file == nil, failure == nil { file = try StateFile(path: files.database) }
            return try file?.value(key)
        } catch {
            recover(from: error)
            return unwritten[key] ?? (try? file?.value(key)) ?? StateFile.salvage(files.database)[key]
        }
    }

    /// Sets the value of `key`; what the disk does not take now is written later.
    func set(_ key: String, _ value: String) {
        unwritten[key] = value
        write()
    }

    /// Tries again what could not be written.
    func retry() {
        if failure != nil { write() }
    }

    /// Writes what waits, and closes the file until the next write.
    func close() {
        if !unwritten.isEmpty { write() }
        file = nil
    }

    private func write() {
        do throws(SQLiteError) {
            if file == nil { file = try StateFile(path: files.database) }
            try file?.set(unwritten)
            succeeded()
        } catch {
            recover(from: error)
        }
    }

    private func succeeded() {
        unwritten = [:]
        guard failure != nil else { return }
        failure = nil
        log.info("\(files.database) can be written again")
    }

    private func recover(from error: SQLiteError) {
        guard error.isCorrupt else { return failed(error) }
        do throws(SQLiteError) {
            try replaceDamagedFile(error)
        } catch {
            failed(error)
        }
    }

    private func failed(_ error: SQLiteError) {
        file = nil
        if failure == nil { log.error("\(error)") }
        failure = error
    }

    /// Sets the damaged file aside, and writes what can be read of it into a new one; what is newer in memory wins.
    private func replaceDamagedFile(_ error: SQLiteError) throws(SQLiteError) {
        file = nil
        wasDamaged = true
        let aside: String
        do throws(FileFailure) {
            aside = try files.setAside(at: time.wall())
        } catch {
            throw SQLiteError(
                code: .inputOutput,
                message: "it is damaged and cannot be set aside",
                action: "use \(files.database)",
                systemError: error.code
            )
        }
        let found = StateFile.salvage(aside)
        log.error(
            "\(error) It was set aside as \(aside), and a new one begun; "
                + (found.isEmpty ? "nothing of it could be read." : "\(found.count) values of it were put back.")
        )
        unwritten.merge(found) { newer, _ in newer }
        let new = try StateFile(path: files.database)
        try new.set(unwritten)
        file = new
        succeeded()
    }
}
