internal import DataPoints
internal import Diagnostics
internal import SQLite

extension OutboxStore {
    /// Sets the damaged file aside and begins a new one at once; what the old one holds is put back by `salvage`.
    func replaceDamagedFile(_ error: SQLiteError) throws(OutboxError) {
        // Closed first: closing removes the log by its name, which must not be the new file's.
        let known = file?.nextID ?? 0
        let knownLanes = file?.lanes ?? []
        file = nil
        let aside: String
        do throws(FileFailure) {
            aside = try files.files.setAside(at: time.wall())
        } catch {
            throw .file(error)
        }
        setAside.append(aside)
        log.error("\(error) It was set aside as \(aside), and a new one begun; what can be read is put back.")
        let now = time.wall()
        try translated { () throws(SQLiteError) in
            try openFile()
            guard let file else { return }
            // Without a readable row all is left to the pages.
            let rows = DamagedRows(path: aside)
            let above = max(known, rows?.nextID() ?? 0)
            let old = knownLanes.isEmpty ? rows?.lanes() ?? [] : knownLanes
            let letters = rows?.deadLetters() ?? []
            let phase = rows == nil ? SalvageStep.Phase.pages : .rows
            try file.commit { () throws(SQLiteError) in
                try file.beginSalvage(of: aside, phase: phase, above: above, now: now)
                try file.takeOver(lanes: old, deadLetters: letters)
            }
        }
        roomPass = OutboxFile.RoomPass()
        oldestKnown = .min
        showCounts()
        salvageWake.yield()
    }

    /// Keeps a copy of the log when SQLite would pass over a part of it without a word; says the copy's name.
    func copyBrokenLog() throws(OutboxError) -> String? {
        guard LogImage(path: files.database + "-wal", checking: true)?.isBroken == true else { return nil }
        let aside = files.files.nameForDamaged(at: time.wall())
        let code = ByteFile.copy(files.database + "-wal", to: aside + "-wal")
        guard code == 0 else {
            throw .file(FileFailure(action: "copy the damaged log to", path: aside + "-wal", code: code))
        }
        return aside
    }

    func beginSalvage(ofLog aside: String) throws(OutboxError) {
        log.error(
            "the newest part of the outbox \(files.database) is damaged. A copy of its log was kept as \(aside)-wal; "
                + "what can be read is put back."
        )
        setAside.append(aside)
        guard let file else { return }
        let now = time.wall()
        try translated { () throws(SQLiteError) in
            try file.commit { () throws(SQLiteError) in
                try file.beginSalvage(of: aside, phase: .logPages, above: 0, now: now)
            }
        }
        salvageWake.yield()
    }

    /// Puts back what can be read of damaged files, a part at a time, beside everything else. `run` does it by itself.
    public func salvage() async throws(OutboxError) {
        while true {
            guard let step = try inFile({ file throws(SQLiteError) in try file.unfinishedSalvage() }) else { break }
            try await step.phase == .rows ? salvageRows(step) : salvagePages(step)
        }
        guard file?.isSalvaging == true else { return }
        let lost = try inFile { file throws(SQLiteError) in try file.endSalvages() }
        _ = try inChunks { file throws(SQLiteError) in try file.giveUpUntimed(limit: 500) }
        log.warning(
            "\(salvaged) points of damaged files were put back"
                + (lost > 0 ? "; \(lost) could not be read and are counted as evicted" : "")
        )
    }

    private func salvageRows(_ first: SalvageStep) async throws(OutboxError) {
        var step = first
        guard var source = DamagedRows(path: step.path) else {
            return try goOn(step, to: .pages)
        }
        let boots = source.boots()
        while let page = source.page(after: step.position, limit: 500) {
            step.position = page.last
            try putBack(page.rows, &step, boots)
            await Task.yield()
        }
        try goOn(step, to: source.hasGaps ? .pages : .done)
    }

    private func salvagePages(_ first: SalvageStep) async throws(OutboxError) {
        var step = first
        let source = DamagedPages(path: step.path, logOnly: step.phase == .logPages)
        let boots = DamagedRows(path: step.path)?.boots() ?? [:]
        while step.position <= source.count {
            let from = step.position
            let end = min(Int64(source.count), from + 15)
            let rows = (from...end).flatMap { source.points(at: Int($0)) }
            step.position = end + 1
            try putBack(rows, &step, boots)
            await Task.yield()
        }
        try goOn(step, to: .done)
    }

    private func putBack(_ rows: [PointRow], _ step: inout SalvageStep, _ boots: [Int64: String]) throws(OutboxError) {
        var next = step
        let count = try inFile { file throws(SQLiteError) in
            let count = try file.putBack(rows, next, boots: boots)
            next.found += count
            try file.note(next)
            return count
        }
        step = next
        salvaged += count
    }

    private func goOn(_ step: SalvageStep, to phase: SalvageStep.Phase) throws(OutboxError) {
        var next = step
        next.phase = phase
        next.position = 1
        try inFile { file throws(SQLiteError) in try file.note(next) }
        if phase == .done { log.info("\(next.found) points of \(next.path) were put back") }
    }
}
