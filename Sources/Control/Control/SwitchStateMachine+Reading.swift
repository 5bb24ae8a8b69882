internal import Diagnostics

extension SwitchStateMachine {
    mutating func connected(_ link: SwitchLink, _ now: SwitchMoment) {
        disconnected()
        self.link = link
        connectedAt = now.boot
        told = nil
        read(now)
    }

    mutating func disconnected() {
        link = nil
        connectedAt = nil
        feed = .unread
        reading = nil
        asked = []
        readAt = nil
        failedReads = 0
        doubtful = nil
        writing = nil
    }

    /// Finds out what stands on the feed. With a decision pending it has to come with its time.
    mutating func read(_ now: SwitchMoment) {
        readAt = nil
        switch link {
        case .rest: readLast()
        case .mqtt where feed == .unread && memory.pending != nil && settings.hasREST: readLast()
        case .mqtt: ask(now, attempt: 1)
        case nil: break
        }
    }

    private mutating func ask(_ now: SwitchMoment, attempt: Int) {
        let until = now.boot.advanced(by: settings.answerWithin)
        if settings.canAsk {
            reading = .answer(until: until, attempt: attempt)
            asked.append(now.boot)
            actions.append(.ask)
        } else if feed == .unread {
            asked = [now.boot]
            reading = .retained(until: until)
        }
    }

    private mutating func readLast() {
        reading = .last(nextRead)
        actions.append(.read(nextRead))
        nextRead += 1
    }

    /// A decision was made. It cannot be written before the feed has been read: over MQTT an empty feed keeps silent, and
    /// REST says so at once, with the time that decides between the two.
    mutating func decided() {
        guard case .answer = reading, link == .mqtt, feed == .unread, settings.hasREST else { return }
        readLast()
    }

    /// Reads again, asks again, or gives up asking.
    mutating func readingIsDue(_ now: SwitchMoment) {
        if let readAt, readAt <= now.boot, link != nil, writing == nil { read(now) }
        switch reading {
        case .answer(let until, let attempt) where until <= now.boot:
            reading = nil
            guard feed == .unread else { return }
            if attempt < 2 {
                ask(now, attempt: attempt + 1)
            } else if settings.hasREST {
                // Two lost answers look the same as an empty feed; REST can tell them apart.
                readLast()
            } else {
                feedIsEmpty(now)
            }
        case .retained(let until) where until <= now.boot:
            reading = nil
            if feed == .unread { feedIsEmpty(now) }
        default: break
        }
    }

    /// An empty feed gets the bridge's own state.
    mutating func feedIsEmpty(_ now: SwitchMoment) {
        feed = .empty
        guard memory.pending == nil, settings.writeBack else { return }
        memory.pending = SwitchMemory.Pending(wanted, at: now, bootID: bootID)
    }

    /// A value came over MQTT.
    mutating func arrived(_ text: String, retained: Bool, _ now: SwitchMoment) {
        guard link == .mqtt else { return }
        if writing != nil, SwitchWords.trim(text) == writing?.text { return stored(createdAt: nil, now) }

        // Nothing tells an answer from a new value. An answer can be lost, so it is awaited for a while only.
        asked.removeAll { $0.duration(to: now.boot) > settings.answerForgottenAfter }
        let askedAt = asked.isEmpty ? (retained ? connectedAt : nil) : asked.removeFirst()
        switch reading {
        case .answer, .retained: reading = nil
        // A read by REST that is still on its way may be older than this value.
        case .last where askedAt == nil: reading = nil
        case .last, nil: break
        }
        guard writing == nil else {
            writing?.missed = text
            return
        }
        guard let state = settings.words.meaning(of: text) else { return unknownWord(text) }
        reported = nil
        feed = .state(state)
        // What was asked for before the decision is older than it. What was asked for after it may be older or newer,
        // and an answer over MQTT has no time: the service's word counts.
        if let askedAt, let pending = memory.pending, pending.wasMade(after: askedAt, bootID: bootID) { return }
        follow(state, followed: nil, now)
    }

    /// Takes in the answer to a read by REST, unless it is stale.
    mutating func answered(read: Int, _ now: SwitchMoment, _ body: (inout SwitchStateMachine) -> Void) {
        guard reading == .last(read) else { return }
        reading = nil
        failedReads = 0
        if link == .rest { readAt = now.boot.advanced(by: settings.pollEvery) }
        body(&self)
    }

    mutating func last(_ text: String, createdAt: Timestamp?, clockOffset: Duration?, _ now: SwitchMoment) {
        guard let state = settings.words.meaning(of: text) else { return unknownWord(text) }
        reported = nil
        let value = createdAt.map { SwitchMemory.Followed(state: state, createdAt: $0.nanoseconds) }
        if let pending = memory.pending {
            let isNewer = isNewer(value, than: pending, clockOffset: clockOffset, now)
            feed = .state(state)
            if isNewer || state == pending.state { follow(state, followed: value, now) }
            return
        }
        if let value, let followed = memory.followed, value.createdAt < followed.createdAt, doubtful != value {
            // Older than what was followed: a late answer, or somebody deleted the newest value. It counts if it stays.
            doubtful = value
            readLast()
            return
        }
        feed = .state(state)
        follow(state, followed: value, now)
    }

    /// Whether the user's word came after the decision. Ties and unknown clocks go to the service.
    private func isNewer(
        _ value: SwitchMemory.Followed?,
        than pending: SwitchMemory.Pending,
        clockOffset: Duration?,
        _ now: SwitchMoment
    ) -> Bool {
        if let value, value == memory.followed { return false }
        guard let value, let clockOffset else { return true }
        let decided = pending.wallTime(now, bootID: bootID) + clockOffset
        // The service's times are cut to the second.
        return Timestamp(nanoseconds: value.createdAt) + .seconds(1) > decided
    }

    mutating func readFailed(_ read: Int, _ now: SwitchMoment) {
        guard reading == .last(read) else { return }
        reading = nil
        failedReads += 1
        if link == .mqtt, memory.pending != nil, settings.canAsk, failedReads >= 3 {
            // MQTT works and REST does not: no times are to be had.
            failedReads = 0
            ask(now, attempt: 1)
        } else {
            readAt = now.boot.advanced(by: settings.pollEvery)
        }
    }

    private mutating func unknownWord(_ text: String) {
        feed = .unknownWord
        let shown = SwitchStateMachine.forStatus(text, limit: 40)
        guard shown != reported else { return }
        reported = shown
        report = "error: \"\(shown)\" on the control feed is neither ON nor OFF"
    }
}
