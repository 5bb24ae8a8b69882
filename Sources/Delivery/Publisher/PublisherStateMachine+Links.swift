internal import DataPoints
internal import Diagnostics

extension PublisherStateMachine {
    /// Whether REST is there to take what MQTT may not carry.
    var canDrain: Bool { !settings.isPlain && isOpen && !isHeld(.rest) && (rest.isKeyKnown || !mqtt.phase.isOnWay) }

    /// Whether one more REST request may be made now.
    var mayRequest: Bool {
        canDrain && rest.requests.count < (rest.isKeyKnown ? settings.mostRequests : 1)
    }

    /// Whether live points may go by MQTT now.
    var mayPublish: Bool { mqtt.phase == .up && isOpen && !(isFallback && canDrain) }

    /// REST takes over when MQTT is down for long, and hands back when MQTT is steady.
    mutating func chooseLink() {
        if mqtt.phase == .up {
            if isFallback, let since = mqtt.upSince, since.advanced(by: settings.steadyAfter) <= now {
                isFallback = false
            }
        } else if !isFallback, !settings.isPlain, let due = fallbackDue, due <= now {
            isFallback = true
            actions.append(.report(.restTakesOver))
        }
        let wanted: PublisherLink? =
            !isOpen ? nil : mayPublish ? .mqtt : isFallback && canDrain ? .rest : nil
        if wanted != used {
            used = wanted
            actions.append(.use(wanted))
        }
    }

    /// When REST takes over, if MQTT stays down; nil when MQTT is up or REST has taken over.
    var fallbackDue: BootInstant? {
        guard !isFallback, mqtt.phase != .up, !settings.isPlain else { return nil }
        if mqtt.phase == .stopped { return now }
        let due = mqtt.downSince.map { $0.advanced(by: settings.fallbackAfter) } ?? now
        if let next = mqttTry, now.duration(to: next) > settings.fallbackAfter { return now }
        return due
    }

    /// The service's time, not later than it is; nil before it was told.
    var serviceNow: Timestamp? { serviceTime(at: now) }

    func serviceTime(at instant: BootInstant) -> Timestamp? {
        serviceOffset.map { Timestamp(nanoseconds: instant.nanoseconds) + $0 }
    }

    /// The service cuts its time to the second, and the answer has been on its way: the latest estimate is the best.
    mutating func serviceTold(_ time: Timestamp) {
        let offset = time - Timestamp(nanoseconds: now.nanoseconds)
        guard let known = serviceOffset, (offset - known).magnitude < .seconds(5) else {
            serviceOffset = offset
            return
        }
        serviceOffset = max(known, offset)
    }

    /// What a point for that feed costs: a feed that may not be there is made by the first one, which counts, too.
    private mutating func cost(of feed: FeedKey) -> Int {
        !settings.isPlain && lanes[lane(for: feed)].isAbsent ? 2 : 1
    }

    /// Answers a wish of the bridge's own.
    mutating func asked(_ request: OwnRequest) {
        let budget = memory.budget
        let (cost, link): (Int, PublisherLink?) =
            switch request.kind {
            case .write(let feed, _): (cost(of: feed), mayPublish ? .mqtt : isFallback && canDrain ? .rest : nil)
            case .administer(let count): (count, canDrain ? .rest : nil)
            case .read: (0, canDrain ? .rest : nil)
            }
        guard let link, isStarted, cost <= 0 || cost <= budget.leftForOwn else {
            let free = budget.nextFree.flatMap { $0 > now ? $0 : nil }
            let hold = memory.holds.current(.account, at: now)?.until ?? memory.holds.current(.key, at: now)?.until
            actions.append(.deny(request.id, until: hold ?? (link == nil ? mqttTry : free)))
            return
        }
        if cost > 0 {
            memory.budget.spendOwn(cost, at: now)
            isMemoryChanged = true
        }
        if case .write(let feed, let text) = request.kind, !settings.isPlain {
            let until = now.advanced(by: settings.settle + SentTexts.slack)
            lanes[lane(for: feed)].texts.sent(text, until: until, at: now)
        }
        actions.append(.grant(request.id, link))
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
