internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import MQTT

extension MQTTLink {
    /// Makes one connection and keeps it until it ends. A new handle each time: the library would send old messages again.
    func connection(_ settings: MQTTLinkSettings) async -> LinkEnding {
        let connection: MQTTConnection
        do {
            connection = try await MQTTConnection.connect(settings.connection)
        } catch {
            return LinkEnding(error)
        }
        let ending = await serve(connection, settings)
        await connection.disconnect()
        return ending
    }

    private func serve(_ connection: MQTTConnection, _ settings: MQTTLinkSettings) async -> LinkEnding {
        let user = settings.username
        let control: MQTTSubscription
        let errors: MQTTSubscription
        let throttle: MQTTSubscription
        do {
            control = try await connection.subscribe(
                to: settings.topic(settings.controlFeed),
                qos: .atLeastOnce,
                buffer: .newest(1)
            )
            errors = try await connection.subscribe(
                to: AdafruitIOTopic.errors(user: user).text,
                qos: .atLeastOnce,
                buffer: .all(upTo: 256)
            )
            throttle = try await connection.subscribe(
                to: AdafruitIOTopic.throttle(user: user).text,
                qos: .atLeastOnce,
                buffer: .all(upTo: 256)
            )
        } catch {
            return LinkEnding(error)
        }
        let now = time.boot()
        state.withLock { state in
            state.policy.connected(at: now)
            state.connection = connection
            state.link.isUp = true
            state.link.reason = .ok
            state.link.message = "connected"
            state.link.nextTry = nil
            state.link.upSince = now
        }
        log.info("MQTT is up: \(settings.connection.host):\(settings.connection.port)")
        tell(.up)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.follow(control) }
            group.addTask { await self.heed(errors) }
            group.addTask { await self.heed(throttle) }
            group.addTask { await self.send(over: connection, settings) }
            if await connection.endedUnlessCancelled() == nil { await connection.disconnect() }
            group.cancelAll()
        }
        let ended = await connection.ended
        guard state.withLock({ $0.isUnanswered }) else { return LinkEnding(ended) }
        return LinkEnding(.timedOut, message: "the broker left a message unacknowledged for too long")
    }

    /// Passes the control feed's values on.
    private func follow(_ subscription: MQTTSubscription) async {
        for await message in subscription.messages {
            guard let payload = FeedPayload(message.payload, form: .plain) else {
                log.warning("the control feed holds something that is no text")
                continue
            }
            tell(.control(payload.value))
        }
    }

    /// Heeds what the service says on its `errors` and `throttle` topics.
    private func heed(_ subscription: MQTTSubscription) async {
        for await message in subscription.messages {
            let notice = ServiceMessage(message.payload)
            log.warning("Adafruit IO says: \(notice.text)")
            let now = time.boot()
            state.withLock { state in
                switch notice.reason {
                case .dataRate(let wait):
                    state.hold(until: now.advanced(by: wait + .seconds(2)), .throttled, notice.text)
                case .banned(let wait):
                    state.hold(until: now.advanced(by: wait + .seconds(2)), .banned, notice.text)
                case .blocked:
                    state.hold(until: now.advanced(by: .seconds(60)), .banned, notice.text)
                case .tooManyRequests, .flood:
                    state.hold(until: now.advanced(by: .seconds(60)), .throttled, notice.text)
                default:
                    break
                }
            }
        }
    }

    /// Publishes what waits, one point at a time, within the budget.
    private func send(over connection: MQTTConnection, _ settings: MQTTLinkSettings) async {
        do {
            while true {
                let queued = try await queue.first()
                let point = queued.point
                guard point.value.utf8.count <= PointLimits.valueBytes else {
                    log.error("feed \(point.feed): a value of \(point.value.utf8.count) bytes is too large; dropped")
                    queue.refuse(queued.id, reason: "value larger than \(PointLimits.valueBytes) bytes")
                    continue
                }
                guard !state.withLock({ $0.blocked.contains(point.feed) }) else {
                    queue.refuse(queued.id, reason: "the feed is missing and cannot be made")
                    continue
                }
                guard try await mayBeSent(queued, settings) else {
                    queue.evict(queued.id)
                    continue
                }
                do throws(MQTTError) {
                    let text = FeedPayload.published(point)
                    try await deliver(text, to: settings.topic(point.feed), over: connection)
                    queue.confirm(queued.id)
                } catch {
                    guard !error.isRetriable else { throw error }
                    log.error("feed \(point.feed): \(error) The point is dropped")
                    queue.refuse(queued.id, reason: "\(error)")
                }
            }
        } catch {
            log.debug("sending stopped: \(error)")
            // A connection over which nothing is sent any more helps nobody: the next one goes on.
            if !Task.isCancelled { await connection.disconnect() }
        }
    }

    /// Publishes and waits for the broker's acknowledgement; a connection that gives none in time is given up.
    func deliver(_ text: String, to topic: String, over connection: MQTTConnection) async throws(MQTTError) {
        let watch = Task { [time, state] in
            guard (try? await time.sleep(for: Self.acknowledgedWithin)) != nil else { return }
            state.withLock { $0.isUnanswered = true }
            await connection.disconnect()
        }
        defer { watch.cancel() }
        try await connection.publish(Array(text.utf8), to: topic, qos: .atLeastOnce)
    }

    /// Waits for the budget; false once the point is too old to be sent as if it were of now.
    private func mayBeSent(_ queued: QueuedPoint, _ settings: MQTTLinkSettings) async throws -> Bool {
        let deadline = queued.queuedAt.advanced(by: settings.liveWithin)
        while true {
            let now = time.boot()
            guard now <= deadline else { return false }
            let wait = state.withLock { state -> BootInstant? in
                if let hold = state.hold, hold.until > now { return hold.until }
                guard state.mayPublish else { return now.advanced(by: .milliseconds(100)) }
                // A few points are left for the switch and its status.
                let reserve = min(3, state.budget.limit / 10)
                if state.budget.left(at: now) > reserve, state.budget.take(at: now) { return nil }
                return now.advanced(by: .seconds(1))
            }
            guard let wait else { return true }
            try await time.sleep(until: min(wait, deadline.advanced(by: .milliseconds(1))))
        }
    }
}

extension MQTTLink.State {
    mutating func hold(until moment: BootInstant, _ reason: LinkReason, _ text: String) {
        // Of two, the one that lasts longer.
        if let hold, hold.until > moment { return }
        hold = MQTTLink.Hold(until: moment, reason: reason, text: text)
    }

    func isHeld(at now: BootInstant) -> Bool {
        hold.map { $0.until > now } ?? false
    }
}
