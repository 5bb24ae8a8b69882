internal import DataPoints
internal import Diagnostics

/// What the publisher knows of REST.
struct RESTSide: Sendable {
    enum Request: Sendable {
        case post(lane: Int)
        case lookUp(lane: Int)
        case deletion(lane: Int)
        case throttle
    }

    /// What is under way, by number.
    var requests: [Int: Request] = [:]
    /// Whether the service took the key since it last changed or was refused.
    var isKeyKnown = false
    var failures = 0
    /// 429 without `Retry-After`, in a row.
    var throttles = 0
    /// `/throttle` is to be read as soon as it may be.
    var wantsThrottle = true
    var throttleReadAt: BootInstant?
    /// An account hold-off has ended, and nothing is done before `/throttle` was read.
    var isGateShut = false
    var toldPlan: Int?

    var isReadingThrottle: Bool {
        requests.values.contains { if case .throttle = $0 { true } else { false } }
    }
}

extension PublisherStateMachine {
    private static let shortestPause = 5.0
    private static let longestPause = 300.0
    private static let throttlePause = Duration.seconds(30)
    private static let longestThrottle = Duration.seconds(600)
    private static let lanePause = Duration.seconds(60)
    private static let longLanePause = Duration.seconds(15 * 60)
    static let readPause = Duration.seconds(60)

    /// At start, after an account hold-off, and each minute while more than 80 % are used.
    mutating func readThrottleIfDue() {
        if let limit = memory.budget.plan, memory.budget.ours.used + memory.budget.foreign.used > limit * 4 / 5,
            rest.throttleReadAt.map({ $0.advanced(by: Self.readPause) <= now }) ?? true
        {
            rest.wantsThrottle = true
        }
        guard rest.wantsThrottle, !settings.isPlain, !rest.isReadingThrottle else { return }
        // The gate is what this read opens; all else must allow it.
        let isAllowed =
            !isHeld(.account) && !isHeld(.key) && !isHeld(.rest)
            && (rest.isKeyKnown || (!mqtt.phase.isOnWay && rest.requests.isEmpty))
        guard isAllowed else {
            if isHeld(.rest) { rest.isGateShut = false }
            return
        }
        let request = number()
        rest.wantsThrottle = false
        rest.throttleReadAt = now
        rest.requests[request] = .throttle
        actions.append(.readThrottle(request: request))
    }

    mutating func answered(_ number: Int, _ outcome: RESTOutcome) {
        guard let request = rest.requests.removeValue(forKey: number) else { return }
        learn(from: outcome)
        switch request {
        case .throttle: throttleAnswered(outcome)
        case .post(let lane): posted(lane, number, outcome)
        case .lookUp(let lane): lookedUp(lane, outcome)
        case .deletion(let lane):
            lanes[lane].deletion = nil
            memory.budget.close(number, at: now)
            if case .deleted = outcome { lanes[lane].doubles.removeFirst() }
            if case .refused = outcome { lanes[lane].doubles.removeFirst() }
            if case .missing = outcome { lanes[lane].doubles.removeFirst() }
        }
    }

    /// What an answer says about the link and the account.
    mutating func learn(from outcome: RESTOutcome) {
        switch outcome {
        case .stored, .listed, .deleted, .throttle, .refused, .inFuture, .missing, .feedLimit, .forbidden:
            rest.isKeyKnown = true
            rest.failures = 0
            if case .stored = outcome { rest.throttles = 0 }
        case .keyRefused:
            keyIsRefused()
        case .throttled(let retryAfter):
            let pause = min(Self.throttlePause * (1 << min(rest.throttles, 5)), Self.longestThrottle)
            rest.throttles += 1
            holdAccount(for: retryAfter.map { min($0, .seconds(3600)) } ?? pause, .throttled)
        case .unavailable(let retryAfter): holdREST(.refused, atLeast: retryAfter)
        case .notSent(let reason), .lost(let reason): holdREST(reason, atLeast: nil)
        }
    }

    private mutating func holdREST(_ reason: LinkReason, atLeast told: Duration?) {
        guard !isHeld(.rest) else { return }
        let most = min(Self.shortestPause * Double(1 << min(rest.failures, 8)), Self.longestPause)
        rest.failures += 1
        let pause = Duration.seconds(Double.random(in: (most / 2)...most, using: &random))
        let until = now.advanced(by: max(pause, min(told ?? .zero, .seconds(3600))))
        hold(.rest, until: until, reason)
        actions.append(.report(.restIsDown(reason, until: until)))
    }

    private mutating func throttleAnswered(_ outcome: RESTOutcome) {
        if case .throttle(let limit, let used) = outcome {
            if let limit, limit > 0 {
                rest.toldPlan = limit
                if settings.plan == nil { memory.budget.plan = limit }
            }
            if let used { memory.budget.serviceCounted(used, at: now) }
            isMemoryChanged = true
        }
        if !isHeld(.account) { rest.isGateShut = false }
    }

    // MARK: Posts

    mutating func post(_ index: Int, live: [PublisherPoint], backlog: [PublisherPoint]) {
        let request = number()
        let points = (backlog + live).sorted { $0.id < $1.id }
        lanes[index].flight = .post(request: request, points)
        // Echoes that come before the answer are ours; nothing of the feed goes by MQTT meanwhile.
        for point in points { lanes[index].texts.sent(point.text, until: now, at: now) }
        lanes[index].written.append(contentsOf: points)
        lanes[index].written.removeFirst(max(0, lanes[index].written.count - 512))
        memory.budget.spend(live: live.count, backlog: backlog.count, key: request, at: now)
        memory.lastWrite = now
        noteOthers(index, points)
        isMemoryChanged = true
        rest.requests[request] = .post(lane: index)
        actions.append(.post(request: request, lanes[index].feed, points))
    }

    private mutating func posted(_ index: Int, _ request: Int, _ outcome: RESTOutcome) {
        guard case .post(request, let sent) = lanes[index].flight else { return }
        lanes[index].flight = nil
        memory.lastWrite = now
        isMemoryChanged = true
        if case .notSent = outcome {
            memory.budget.refund(request)
            lanes[index].putBack(sent, most: settings.page)
            return
        }
        memory.budget.close(request, at: now)
        let points = sent.map { point in
            var point = point
            point.attempts += 1
            return point
        }
        switch outcome {
        case .stored:
            for point in points { storedByREST(index, point) }
            finish(index, confirmed: points.map(\.id))
            lanes[index].batchLimit = min(lanes[index].batchLimit * 2, settings.largestBatch)
        case .refused(let reason) where points.count == 1:
            settleText(index, points)
            finish(index, refused: points.map(\.id), reason: reason)
        case .inFuture where points.count == 1:
            settleText(index, points)
            lanes[index].parked += points.map { (now.advanced(by: Self.lanePause), $0) }
        case .refused, .inFuture:
            // Half of it may be stored: nobody promises that a batch is all or nothing.
            lanes[index].batchLimit = max(1, points.count / 2)
            doubt(index, points)
        case .missing:
            lanes[index].heldUntil = now.advanced(by: Self.lanePause)
            lanes[index].putBack(points, most: settings.page)
            actions.append(.feedIsMissing(lanes[index].feed))
        case .feedLimit:
            lanes[index].heldUntil = now.advanced(by: Self.longLanePause)
            lanes[index].putBack(points, most: settings.page)
            actions.append(.report(.feedLimit(lanes[index].feed)))
        case .forbidden(let reason):
            lanes[index].heldUntil = now.advanced(by: Self.longLanePause)
            lanes[index].putBack(points, most: settings.page)
            actions.append(.report(.feedIsForbidden(lanes[index].feed, reason)))
        case .throttled, .keyRefused:
            lanes[index].putBack(points, most: settings.page)
        case .unavailable, .lost, .listed, .deleted, .throttle, .notSent:
            doubt(index, points)
        }
    }

    private mutating func storedByREST(_ index: Int, _ point: PublisherPoint) {
        let until = now.advanced(by: settings.settle + SentTexts.slack)
        lanes[index].texts.settled(point.text, until: until, at: now)
        let keepsHistory = !settings.feedsWithoutHistory.contains(lanes[index].feed)
        guard point.attempts > 1, keepsHistory, lanes[index].checks.count < 20 else { return }
        let flight = memory.flights[point.id]
        let notBefore = now.advanced(by: settings.settle)
        lanes[index].checks.append(Lane.Doubt(point: point, flight: flight, notBefore: notBefore))
    }

    mutating func settleText(_ index: Int, _ points: [PublisherPoint]) {
        let until = now.advanced(by: settings.settle + SentTexts.slack)
        for point in points { lanes[index].texts.settled(point.text, until: until, at: now) }
    }
}
