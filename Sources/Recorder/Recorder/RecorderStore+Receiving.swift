internal import Diagnostics
public import Samples

extension RecorderStore {
    /// Takes samples and returns at once.
    ///
    /// A sample goes into the session whose span holds its time; others go into the always store when `keepOutside`,
    /// else nowhere. What a full buffer drops is counted.
    public nonisolated func receive(_ batch: SampleBatch, keepOutside: Bool = false) {
        guard !batch.isEmpty else { return }
        let reading = clockReading
        let taken = buffer.withLock { buffer in
            buffer.note(reading)
            return buffer.append(batch, keepOutside: keepOutside, waited: false)
        }
        act(taken?.action ?? .nothing)
    }

    /// Takes samples and returns when they are on the disk, safe from a power cut.
    public nonisolated func durably(_ batch: SampleBatch, keepOutside: Bool = true) async throws(RecorderError) {
        guard !batch.isEmpty else { return }
        let reading = clockReading
        let taken = buffer.withLock { buffer in
            buffer.note(reading)
            return buffer.append(batch, keepOutside: keepOutside, waited: true)
        }
        guard let ticket = taken?.ticket else { throw buffer.withLock { $0.isClosed } ? .closed : .bufferFull }
        _ = try await finish(ticket)
    }

    /// Takes samples of several streams and returns when all are on the disk, safe from a power cut: one commit for all.
    ///
    /// When it throws, some may be there all the same; who sends them again sees to doubles.
    public nonisolated func durably(
        _ batches: [SampleBatch],
        keepOutside: Bool = true
    ) async throws(RecorderError) {
        let taken = buffer.withLock { buffer -> (tickets: [Int], isFull: Bool, isClosed: Bool) in
            var tickets: [Int] = []
            for batch in batches where !batch.isEmpty {
                guard let ticket = buffer.append(batch, keepOutside: keepOutside, waited: true)?.ticket else {
                    return (tickets, true, buffer.isClosed)
                }
                tickets.append(ticket)
            }
            return (tickets, false, buffer.isClosed)
        }
        var failure: RecorderError? = taken.isFull ? (taken.isClosed ? .closed : .bufferFull) : nil
        // The first commit writes all; the others only take their outcome.
        for ticket in taken.tickets {
            do throws(RecorderError) {
                _ = try await finish(ticket)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Begins a session and returns its number. Its span starts at the time of this call: no sample is lost meanwhile.
    public nonisolated func startSession(reason: SessionReason) async throws(RecorderError) -> Int64 {
        let now = time.wall()
        let ticket = try append(.start(reason, at: now))
        guard let session = try await finish(ticket) else { throw .notRecording }
        return session
    }

    /// Ends the session that runs at the time of this call and returns its number; nil when none runs.
    @discardableResult
    public nonisolated func stopSession(reason: SessionReason) async throws(RecorderError) -> Int64? {
        let now = time.wall()
        let ticket = try append(.stop(reason, at: now))
        return try await finish(ticket)
    }

    /// Puts a remark into the session that runs, at the time of this call, and returns the session's number.
    @discardableResult
    public nonisolated func mark(_ text: String) async throws(RecorderError) -> Int64 {
        let now = time.wall()
        let ticket = try append(.mark(text, at: now))
        guard let session = try await finish(ticket) else { throw .notRecording }
        return session
    }

    /// Says whether the wall clock is right; samples that come while it is not are marked.
    ///
    /// `run` puts their times right by the boot-time clock when it is right again.
    public nonisolated func setClock(isRight: Bool) {
        let reading = clockReading
        act(buffer.withLock { $0.setClock(isRight: isRight, reading) })
    }

    nonisolated var clockReading: RecorderClock.Reading {
        RecorderClock.Reading(wall: time.wall(), boot: time.boot())
    }

    /// Whether the buffer in front of the disk is less than half full: a source that can wait, such as a file, waits else.
    public nonisolated var hasRoom: Bool { buffer.withLock { $0.hasRoom } }

    /// The samples of each stream that a full buffer or a full disk has dropped since the start.
    public nonisolated var drops: [Name: Int] { buffer.withLock { $0.totalDrops } }

    private nonisolated func append(_ entry: SampleBuffer.Entry) throws(RecorderError) -> Int {
        let reading = clockReading
        let ticket: Int? = buffer.withLock { buffer in
            buffer.note(reading)
            return buffer.isClosed ? nil : buffer.append(entry)
        }
        guard let ticket else { throw .closed }
        return ticket
    }

    private nonisolated func act(_ action: SampleBuffer.Action) {
        switch action {
        case .nothing: break
        case .wake: wake.yield()
        case .commitNow:
            // The wake-up makes `run` try again should this commit fail.
            wake.yield()
            Task { try? await flush() }
        }
    }

    /// Commits, and takes the outcome of an entry. The commit of another call may have dealt with it already.
    private func finish(_ ticket: Int) throws(RecorderError) -> Int64? {
        var problem: RecorderError?
        do throws(RecorderError) {
            try commit(synced: true)
        } catch {
            problem = error
        }
        // The entry's own outcome counts first; a commit that failed is tried again by `run`.
        guard let outcome = outcomes.removeValue(forKey: ticket) else { throw problem ?? condition ?? .closed }
        let answer = try outcome.get()
        if let problem, !isSynced { throw problem }
        return answer
    }
}
