internal import Diagnostics
internal import SQLite

extension RecorderStore {
    /// Sets the damaged file aside and begins a new one at once; what the old one holds is put back by `salvage`.
    func replaceDamagedFile(_ error: SQLiteError) throws(RecorderError) {
        let known = file?.spans ?? []
        // Closed first: closing removes the log by its name, which must not be the new file's.
        file = nil
        let aside = try files.setAside(at: time.wall())
        log.error("\(error) It was set aside as \(aside), and a new one begun; what can be read is put back.")
        try translated { () throws(SQLiteError) in try openFile() }
        try beginSalvage(of: aside, known: known)
    }

    /// Salvages that nobody has begun: the program ended between setting a file aside and noting it.
    func beginForgottenSalvages() throws(RecorderError) {
        for path in files.damaged() {
            guard let file else { return }
            let isNoted = try translated { () throws(SQLiteError) in
                try file.connection.value("SELECT 1 FROM _salvages WHERE path = ?", .text(path)) != nil
            }
            if !isNoted { try beginSalvage(of: path, known: []) }
        }
    }

    private func beginSalvage(of path: String, known: [RecordingFile.Span]) throws(RecorderError) {
        guard let file, let source = DamagedRecording(path: path, .none) else { return }
        try translated { () throws(SQLiteError) in
            try file.commit { () throws(SQLiteError) in
                try file.beginSalvage(of: path, source, known: known)
            }
            try file.reload()
        }
        isSalvaging = true
        salvageWake.yield()
    }

    /// A log of which SQLite would pass over a part without a word: a copy of it, and what it holds.
    struct BrokenLog {
        let copy: String
        let source: DamagedRecording
    }

    func copyBrokenLog() throws(RecorderError) -> BrokenLog? {
        guard LogImage(path: files.database + "-wal", checking: true)?.isBroken == true,
            let source = DamagedRecording(path: files.database, .log)
        else { return nil }
        let copy = files.nameForDamaged(at: time.wall())
        let code = ByteFile.copy(files.database + "-wal", to: copy + "-wal")
        guard code == 0 else { throw .file(action: "copy the damaged log to", path: copy + "-wal", code: code) }
        return BrokenLog(copy: copy, source: source)
    }

    /// Puts back what the broken log holds, before anything else is written.
    func salvage(_ broken: BrokenLog) throws(RecorderError) {
        guard let file, let copy = DatabaseImage(path: broken.copy) else { return }
        log.error(
            "the newest part of \(files.database) is damaged. A copy of its log was kept as \(broken.copy)-wal; "
                + "what can be read is put back."
        )
        var step = SalvageStep(path: broken.copy, page: 0, found: 0, expected: 0)
        try translated { () throws(SQLiteError) in
            try file.commit { () throws(SQLiteError) in
                try file.beginSalvage(of: broken.copy, broken.source, known: [])
                // The counts of drops stand in the file itself.
                file.forgetAdditions()
            }
            for start in stride(from: 0, to: broken.source.pages.count, by: 64) {
                let range = start..<min(start + 64, broken.source.pages.count)
                step.found += try file.commit { () throws(SQLiteError) in
                    try file.putBack(broken.source.samples(range, in: copy), broken.source)
                }
            }
            try file.commit { () throws(SQLiteError) in
                try file.endSalvage()
                try file.note(step, isDone: true)
            }
            try file.reload()
        }
        salvaged += Int(step.found)
        log.warning("\(step.found) samples of the damaged log were put back")
    }

    /// Puts back what can be read of damaged files, a part at a time, beside the recording. `run` does it by itself.
    public func salvage() async throws(RecorderError) {
        while let step = try inFile({ file throws(SQLiteError) in try file.unfinishedSalvage() }) {
            try await salvage(step)
        }
        isSalvaging = false
    }

    private func salvage(_ first: SalvageStep) async throws(RecorderError) {
        // A large file takes a while: beside the recorder's own thread.
        let looker = BlockingExecutor(label: "recorder salvage")
        let (path, from) = (first.path, first.page)
        let source = await looker.run { DamagedRecording(path: path, .all) }
        var step = first
        if let source {
            var position = source.pages.firstIndex { Int64($0.number) >= from } ?? source.pages.count
            while position < source.pages.count {
                guard files.freeBytes() ?? .max > RecorderStore.roomForSalvage else {
                    throw .database(
                        SQLiteError(code: .full, message: "too little room", action: "put back what \(path) holds")
                    )
                }
                let range = position..<min(position + 16, source.pages.count)
                let samples = await looker.run { source.samples(range) }
                position = range.upperBound
                var next = step
                next.page = Int64(source.pages[position - 1].number) + 1
                try inFile { file throws(SQLiteError) in
                    try file.commit { () throws(SQLiteError) in
                        next.found += try file.putBack(samples, source)
                        try file.note(next)
                    }
                }
                salvaged += Int(next.found - step.found)
                step = next
                await Task.yield()
            }
        }
        let done = step
        try inFile { file throws(SQLiteError) in
            try file.commit { () throws(SQLiteError) in
                try file.endSalvage()
                try file.note(done, isDone: true)
            }
            try file.reload()
        }
        let lost = max(0, step.expected - step.found)
        log.warning(
            "\(step.found) samples of \(path) were put back" + (lost > 0 ? "; about \(lost) could not be read" : "")
        )
    }

    /// What has to stay free on the disk while damaged files are copied back.
    private static let roomForSalvage = 2 << 20

    func salvageWhenWoken() async throws {
        await verify()
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

    /// The largest file that is looked through at the start: beyond it the look would take longer than it is worth.
    private static let mostToVerify = 256 << 20

    /// Looks through the whole file once, beside the writer: damage is found before it is needed.
    func verify() async {
        let path = files.database
        guard files.usedBytes() <= RecorderStore.mostToVerify else { return }
        let looker = BlockingExecutor(label: "recorder check")
        let problems = await looker.run { () -> [String] in
            let connection = try? SQLiteConnection(path: path, mode: .readOnly)
            guard let connection else { return [] }
            return (try? connection.integrityProblems(.quick, atMost: 3)) ?? []
        }
        guard let first = problems.first, file != nil else { return }
        do {
            try replaceDamagedFile(SQLiteError(code: .corrupt, message: first, action: "read \(path)"))
        } catch {
            log.error("\(error)")
        }
    }
}
