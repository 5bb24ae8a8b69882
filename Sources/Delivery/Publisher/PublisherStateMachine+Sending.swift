internal import DataPoints
internal import Diagnostics

/// What is sent next, and over which link.
extension PublisherStateMachine {
    /// Sends what may be sent: what is live first, feeds taking turns.
    mutating func send() {
        guard isOpen, !lanes.isEmpty else { return }
        let order = lanes.indices.map { ($0 + turn) % lanes.count }
        if mayPublish {
            for index in order where canPublish(index) { publish(index) }
        }
        guard canDrain else { return }
        for index in order { lookUp(index) }
        guard mayPublish || isFallback else { return }
        for index in order where mayRequest { postFrom(index) }
    }

    // MARK: MQTT

    private func canPublish(_ index: Int) -> Bool {
        guard let first = lanes[index].fresh.first, lanes[index].flight == nil, lanes[index].deletion == nil,
            !lanes[index].isHeld, isEchoed(index),
            !(lanes[index].hasBacklog && canDrain), mayGoOn(lanes[index]),
            !lanes[index].texts.isAmbiguous(first.text, at: now)
        else { return false }
        return memory.budget.leftForLive(hasBacklog: hasLongBacklog) > 0
            && memory.budget.failedPublishes.left(at: now) > 0
    }

    private func isEchoed(_ index: Int) -> Bool {
        mqtt.granted.contains(.allFeeds) || mqtt.granted.contains(.feed(lanes[index].feed))
    }

    /// Whether its echoes were asked for just now, so that the answer is on its way.
    private func willBeEchoed(_ index: Int) -> Bool {
        guard let at = mqtt.asked[.allFeeds] ?? mqtt.asked[.feed(lanes[index].feed)] else { return false }
        return at.advanced(by: settings.settle) > now
    }

    private mutating func publish(_ index: Int) {
        let point = lanes[index].fresh.removeFirst()
        let message = number()
        lanes[index].flight = .mqtt(message: message, point, at: now, isAcknowledged: false)
        // A feed that is made by its first point costs twice.
        memory.budget.spend(live: lanes[index].isAbsent ? 2 : 1, backlog: 0, key: message, at: now)
        memory.budget.failedPublishes.count(at: now)
        memory.flights[point.id] = PublisherMemory.Flight(
            feed: lanes[index].feed.text,
            text: point.text,
            sentAt: serviceNow
        )
        isMemoryChanged = true
        turn = index + 1
        actions.append(.publish(connection: mqtt.connection, message: message, [point]))
    }

    mutating func echoed(_ feed: FeedKey, _ text: String) {
        mqtt.silentPoints = 0
        // On a plain broker only the switch comes back, and confirms nothing.
        guard !settings.isPlain else { return }
        let index = lane(for: feed)
        if case .mqtt(let message, let point, let at, _) = lanes[index].flight, point.text == text {
            lanes[index].flight = nil
            memory.budget.close(message, at: now)
            memory.budget.failedPublishes.takeBack(at)
            lanes[index].texts.sent(text, until: now.advanced(by: SentTexts.slack), at: now)
            finish(index, confirmed: [point.id])
        } else if !lanes[index].texts.isOurs(text, at: now) {
            foreignPoint(index)
        }
    }

    mutating func acknowledged(_ message: Int) {
        mqtt.silentPoints = 0
        if settings.isPlain { return acknowledgedPlainly([message]) }
        for index in lanes.indices {
            guard case .mqtt(message, let point, let at, false) = lanes[index].flight else { continue }
            lanes[index].flight = .mqtt(message: message, point, at: at, isAcknowledged: true)
            return
        }
    }

    mutating func rejected(_ feed: FeedKey?) {
        guard let feed, let index = laneOf[feed] else { return }
        // It stays counted as a failed publish. REST will say what is wrong with the point.
        giveUp(index)
    }

    /// An echo that did not come in time does not come any more, as far as we know.
    mutating func giveUpIfDue(_ index: Int) {
        guard case .mqtt(_, _, let at, let isAcknowledged) = lanes[index].flight,
            at.advanced(by: settings.settle) <= now
        else { return }
        giveUp(index)
        if !isAcknowledged { countSilence() }
    }

    private mutating func giveUp(_ index: Int) {
        guard case .mqtt(let message, var point, _, _) = lanes[index].flight else { return }
        lanes[index].flight = nil
        memory.budget.close(message, at: now)
        isMemoryChanged = true
        point.attempts += 1
        doubt(index, [point])
    }

    /// The connection has ended, and nothing that comes later tells what became of its messages.
    mutating func giveUpAllMessages() {
        for index in lanes.indices { giveUp(index) }
        giveUpPlainly()
    }

    // MARK: REST

    private mutating func postFrom(_ index: Int) {
        guard lanes[index].flight == nil, lanes[index].doubts.isEmpty, lanes[index].lookUp?.isCheck != false,
            !lanes[index].isHeld, !lanes[index].old.isEmpty || !lanes[index].fresh.isEmpty
        else { return }
        parkFuture(index)
        let limit = min(lanes[index].batchLimit, settings.largestBatch)
        let backlog = Array(lanes[index].old.prefix(min(limit, memory.budget.leftForBacklog)))
        var live: [PublisherPoint] = []
        if wantsREST(index), limit == settings.largestBatch || lanes[index].old.isEmpty {
            let left = memory.budget.leftForLive(hasBacklog: hasLongBacklog)
            let both = memory.budget.leftForLive(hasBacklog: false) - backlog.count
            live = Array(lanes[index].fresh.prefix(max(0, min(limit - backlog.count, left, both))))
        }
        guard !backlog.isEmpty || !live.isEmpty else { return }
        lanes[index].old.removeFirst(backlog.count)
        lanes[index].fresh.removeFirst(live.count)
        turn = index + 1
        post(index, live: live, backlog: backlog)
    }

    /// Whether the live points of this feed go by REST now.
    private func wantsREST(_ index: Int) -> Bool {
        guard let first = lanes[index].fresh.first else { return false }
        return !mayPublish || lanes[index].hasBacklog || !(isEchoed(index) || willBeEchoed(index))
            || lanes[index].texts.isAmbiguous(first.text, at: now)
    }

    /// The service refuses what is in its future: that waits, at most a minute at a time, for clocks may be set.
    private mutating func parkFuture(_ index: Int) {
        guard let service = serviceNow else { return }
        func wait(_ point: PublisherPoint) -> Duration { point.point.createdAt - service + .milliseconds(100) }
        for point in lanes[index].old + lanes[index].fresh where wait(point) > .zero {
            lanes[index].parked.append((now.advanced(by: min(wait(point), .seconds(60))), point))
        }
        lanes[index].old.removeAll { wait($0) > .zero }
        lanes[index].fresh.removeAll { wait($0) > .zero }
    }
}
