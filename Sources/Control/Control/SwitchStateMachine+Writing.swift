internal import Diagnostics

extension SwitchStateMachine {
    /// What could be written now, were it not for the shortest time between two writes.
    private var slot: SwitchState? {
        guard settings.writeBack, link != nil, writing == nil, feed != .unread, let pending = memory.pending,
            applied == pending.state
        else { return nil }
        return pending.state
    }

    /// When the slot may be written.
    var writeDue: BootInstant? {
        guard slot != nil else { return nil }
        return lastWrite?.advanced(by: settings.writeInterval) ?? connectedAt
    }

    mutating func write(_ now: SwitchMoment) {
        if writing == nil, let pending = memory.pending, feed == .state(pending.state) {
            // It stands there already.
            memory.pending = nil
        }
        guard let state = slot, let due = writeDue, due <= now.boot else { return }
        let text = settings.words.written(state)
        writing = Writing(id: nextWrite, state: state, text: text, until: now.boot.advanced(by: settings.echoWithin))
        // Answers to what was asked before are stale.
        reading = nil
        readAt = nil
        lastWrite = now.boot
        actions.append(.write(text, write: nextWrite))
        nextWrite += 1
    }

    /// Our write stands on the feed. Somebody may have written after it: it is read again.
    mutating func stored(createdAt: Timestamp?, _ now: SwitchMoment) {
        guard let writing else { return }
        self.writing = nil
        feed = .state(writing.state)
        memory.followed = createdAt.map {
            SwitchMemory.Followed(state: writing.state, createdAt: $0.nanoseconds)
        }
        if memory.pending?.state == writing.state { memory.pending = nil }
        // With another decision pending, an answer over MQTT could not be told from the user's word after it; the next
        // write reads again.
        if link == .rest || memory.pending == nil { read(now) }
    }

    /// The write may or may not have been stored: what stands on the feed decides, read a little later.
    mutating func writeIsUnknown(_ now: SwitchMoment) {
        writing = nil
        feed = .unread
        readAt = now.boot.advanced(by: settings.writeInterval)
    }

    mutating func echoIsMissing(_ now: SwitchMoment) {
        guard let writing else { return }
        if link == .mqtt, !settings.canAsk, !settings.hasREST, let missed = writing.missed {
            // Nothing can be asked here; the newest message is what the broker retains.
            self.writing = nil
            arrived(missed, retained: false, now)
            return
        }
        self.writing = nil
        feed = .unread
        read(now)
    }
}
