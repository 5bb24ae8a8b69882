internal import DataPoints
internal import Diagnostics

/// What the publisher knows of MQTT.
struct MQTTSide: Sendable {
    enum Phase: Sendable {
        case idle
        case connecting
        case subscribing
        case up
        /// Disconnecting because we want to.
        case closing
        /// Not before the configuration changes.
        case stopped

        var isOnWay: Bool { self != .idle && self != .stopped }
    }

    var phase = Phase.idle
    var connection = 0
    var nextTry: BootInstant?
    var reason = LinkReason.starting
    var upSince: BootInstant?
    var downSince: BootInstant?
    /// How it is to be taken that we end the connection ourselves; nil: not at all, the next one is made at once.
    var closingFor: ReconnectPolicy.Ending?
    var granted: Set<PublisherFilter> = []
    var failed: Set<PublisherFilter> = []
    var wanted: [PublisherFilter] = []
    /// What was asked for and not answered, and when.
    var asked: [PublisherFilter: BootInstant] = [:]
    /// Points that were given up on this connection since anything came back.
    var silentPoints = 0
}

extension PublisherStateMachine {
    static let keyPause = Duration.seconds(15 * 60)
    private static let shortestBan = Duration.seconds(60)
    private static let subscribesForEchoes = 30
    private static let mostSilentPoints = 3

    mutating func connectIfDue() {
        guard mqtt.phase == .idle, isOpen, !isHeld(.mqtt), let due = mqttTry, due <= now else { return }
        mqtt.phase = .connecting
        mqtt.connection += 1
        mqtt.granted = []
        mqtt.failed = []
        mqtt.asked = [:]
        mqtt.silentPoints = 0
        if !settings.isPlain { memory.budget.logins.count(at: now) }
        isMemoryChanged = true
        policy.attempting(at: now)
        actions.append(.connect(connection: mqtt.connection))
    }

    /// When MQTT is tried next, as far as the account's counters allow.
    var mqttTry: BootInstant? {
        guard mqtt.phase == .idle, let nextTry = mqtt.nextTry else { return nil }
        var due = nextTry
        if !settings.isPlain {
            due = max(due, memory.budget.logins.nextFree(at: now), memory.budget.subscribes.nextFree(3, at: now))
        }
        return [HoldOffs.Scope.mqtt, .account, .key].reduce(due) { due, scope in
            max(due, memory.holds.current(scope, at: now)?.until ?? due)
        }
    }

    mutating func happened(_ what: MQTTHappening) {
        switch what {
        case .connected: connected()
        case .ended(let ending): ended(ending)
        case .subscribed(let filter):
            if let at = mqtt.asked.removeValue(forKey: filter) {
                memory.budget.failedSubscribes.takeBack(at)
                isMemoryChanged = true
            }
            mqtt.granted.insert(filter)
            upWhenSubscribed()
        case .subscribeFailed(let filter):
            // Its attempt stays counted as a failure.
            mqtt.asked[filter] = nil
            mqtt.granted.remove(filter)
            if mqtt.failed.insert(filter).inserted { actions.append(.report(.notSubscribed(filter))) }
            upWhenSubscribed()
        case .acknowledged(let message): acknowledged(message)
        case .acknowledgedAll(let messages):
            guard !settings.isPlain else { return acknowledgedPlainly(messages) }
            for message in messages { acknowledged(message) }
        case .notSent(let messages): notSentPlainly(messages)
        case .echoed(let feed, let text): echoed(feed, text)
        case .rejected(let feed): rejected(feed)
        case .throttled(let wait): holdAccount(for: wait, .throttled)
        case .banned(let wait): holdAccount(for: wait, .banned)
        }
    }

    private mutating func connected() {
        guard mqtt.phase == .connecting else { return }
        mqtt.phase = .subscribing
        rest.isKeyKnown = true
        policy.connected(at: now)
        wantSubscriptions()
    }

    /// What is to be subscribed to with these settings.
    mutating func wantSubscriptions() {
        guard !settings.isPlain else {
            mqtt.wanted = [.control] + settings.followed.map { .feed($0) }
            return
        }
        var feeds: [FeedKey] = []
        for feed in settings.rules.map(\.feed) + settings.followed where !feeds.contains(feed) { feeds.append(feed) }
        let echoes: [PublisherFilter] =
            feeds.count > settings.mostEchoFilters ? [.allFeeds] : feeds.map { .feed($0) }
        mqtt.wanted = [.control, .errors, .throttle] + echoes
    }

    /// Subscribes to what is missing, as far as the limits allow: first the three that are always needed.
    mutating func subscribeMore() {
        guard mqtt.phase == .subscribing || mqtt.phase == .up, isOpen else { return }
        let missing = mqtt.wanted.filter {
            !mqtt.granted.contains($0) && !mqtt.failed.contains($0) && mqtt.asked[$0] == nil
        }
        guard !missing.isEmpty else { return }
        if settings.isPlain {
            for filter in missing { mqtt.asked[filter] = now }
            actions.append(.subscribe(connection: mqtt.connection, missing))
            return
        }
        let isWaiting = mqtt.wanted.contains {
            isNeededFirst($0) && !mqtt.granted.contains($0) && !mqtt.failed.contains($0)
        }
        let candidates =
            isWaiting
            ? missing.filter { isNeededFirst($0) }
            : memory.budget.subscribes.left(at: now) < Self.subscribesForEchoes ? [] : missing
        let most = min(memory.budget.subscribes.left(at: now), memory.budget.failedSubscribes.left(at: now))
        let chosen = Array(candidates.prefix(most))
        guard !chosen.isEmpty else { return }
        for filter in chosen {
            mqtt.asked[filter] = now
            memory.budget.subscribes.count(at: now)
            memory.budget.failedSubscribes.count(at: now)
        }
        isMemoryChanged = true
        actions.append(.subscribe(connection: mqtt.connection, chosen))
    }

    private func isNeededFirst(_ filter: PublisherFilter) -> Bool {
        switch filter {
        case .control, .errors, .throttle: true
        case .feed, .allFeeds: false
        }
    }

    private mutating func upWhenSubscribed() {
        guard mqtt.phase == .subscribing else { return }
        let isAnswered = mqtt.wanted.allSatisfy {
            !isNeededFirst($0) || mqtt.granted.contains($0) || mqtt.failed.contains($0)
        }
        guard isAnswered else { return }
        mqtt.phase = .up
        mqtt.upSince = now
        mqtt.reason = .ok
        actions.append(.report(.mqttIsUp))
    }

    private mutating func ended(_ told: ReconnectPolicy.Ending) {
        let wasClosing = mqtt.phase == .closing
        let reason = wasClosing ? mqtt.closingFor : told
        mqtt.phase = .idle
        mqtt.closingFor = nil
        if mqtt.upSince != nil || mqtt.downSince == nil { mqtt.downSince = now }
        mqtt.upSince = nil
        giveUpAllMessages()
        guard var ending = reason else {
            mqtt.nextTry = now
            return
        }
        if let held = memory.holds.current(.account, at: now), case .failed = ending {
            ending = .banned(now.duration(to: held.until))
        }
        switch ending {
        case .banned(let told):
            if !isHeld(.account) { holdAccount(for: max(told ?? .zero, Self.shortestBan), .banned) }
        case .keyRefused: keyIsRefused()
        default: break
        }
        switch policy.ended(ending, at: now) {
        case .attempt(let at, let reason):
            mqtt.reason = reason
            mqtt.nextTry = at
            if case .throttled = ending { hold(.mqtt, until: at, reason) }
            if case .failed(.idInUse) = ending { mqtt.nextTry = max(at, now.advanced(by: .seconds(60))) }
        case .stop(let reason):
            mqtt.reason = reason
            mqtt.nextTry = nil
            mqtt.phase = .stopped
        }
        actions.append(.report(.mqttIsDown(mqtt.reason, nextTry: mqttTry)))
    }

    /// Ends the connection; `reason` is how its end is taken.
    mutating func close(_ reason: ReconnectPolicy.Ending?) {
        guard mqtt.phase.isOnWay, mqtt.phase != .closing else { return }
        mqtt.phase = .closing
        mqtt.closingFor = reason
        actions.append(.disconnect(connection: mqtt.connection))
    }

    /// The service refused the key, on whichever link.
    mutating func keyIsRefused() {
        rest.isKeyKnown = false
        guard !isHeld(.key) else { return }
        let until = now.advanced(by: settings.isPlain ? ReconnectPolicy.Pace.plainBroker.keyPause : Self.keyPause)
        hold(.key, until: until, .keyRefused)
        actions.append(.report(.keyIsRefused(until: until)))
        close(.keyRefused)
    }

    mutating func keyChanged() {
        memory.holds.end(.key)
        isMemoryChanged = true
        rest.isKeyKnown = false
        for index in lanes.indices { lanes[index].heldUntil = nil }
        if mqtt.phase.isOnWay {
            if mqtt.phase == .closing { mqtt.closingFor = nil } else { close(nil) }
        } else {
            mqtt.phase = .idle
            mqtt.nextTry = now
        }
    }

    /// A message got no answer; when that happens again and again, the connection is dead.
    mutating func countSilence() {
        mqtt.silentPoints += 1
        guard mqtt.silentPoints >= Self.mostSilentPoints, mqtt.phase == .up else { return }
        actions.append(.report(.silentConnection))
        close(.failed(.keepAlive))
    }
}
