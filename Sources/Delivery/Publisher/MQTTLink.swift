internal import AdafruitIO
public import DataPoints
public import Diagnostics
internal import MQTT

/// The MQTT way to Adafruit IO: logs in, keeps the subscriptions, publishes what waits in the queue.
///
/// Safe from any thread. `run()` is called once; cancelling its task disconnects cleanly.
public final class MQTTLink: Sendable {
    struct State {
        var link = LinkState()
        var policy = ReconnectPolicy()
        var budget: RollingBudget
        var connection: MQTTConnection?
        /// Nothing may be sent, and nobody may log in, before that moment: the service said so, and why.
        var hold: Hold?
        var settings: MQTTLinkSettings
        var mayPublish = false
        var blocked: Set<FeedKey> = []
        /// The attempt, connection or pause that goes on now.
        var attempt: Task<LinkEnding?, Never>?
        /// Whether that attempt was ended to take changed settings.
        var isReconfigured = false
        /// Whether the broker has left a message unacknowledged for too long.
        var isUnanswered = false
    }

    /// What the service said on its topics about the account.
    struct Hold {
        var until: BootInstant
        var reason: LinkReason
        var text: String
    }

    /// A message that is not acknowledged for so long tells that the connection is dead, whatever pings say.
    static let acknowledgedWithin = Duration.seconds(20)

    let queue: any PointQueue
    let time: any TimeSource
    let log: Log
    let state: Guarded<State>
    private let eventSink: AsyncStream<LinkEvent>.Continuation

    /// What happens on the link, in order. One task reads it; of values that nobody reads the newest 64 are kept.
    public let events: AsyncStream<LinkEvent>

    /// Makes a link that is not connected.
    public init(_ settings: MQTTLinkSettings, queue: any PointQueue, time: any TimeSource, log: Log) {
        self.queue = queue
        self.time = time
        self.log = log
        state = Guarded(State(budget: RollingBudget(limit: settings.pointsPerMinute), settings: settings))
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// How the link is doing.
    public var linkState: LinkState {
        let now = time.boot()
        return state.withLock { state in
            var link = state.link
            guard let hold = state.hold, hold.until > now else { return link }
            link.holdUntil = hold.until
            if link.isUp {
                link.reason = hold.reason
                link.message = hold.text
            }
            return link
        }
    }

    /// How many points may be sent in a minute, and how many were in the last one.
    public var budget: (limit: Int, used: Int) {
        let now = time.boot()
        return state.withLock { ($0.budget.limit, $0.budget.used(at: now)) }
    }

    /// Changes how many points may be sent in a minute.
    public func setPointsPerMinute(_ points: Int) {
        state.withLock { $0.budget.setLimit(points) }
    }

    /// Takes note that the account has had `points` in the last minute, by whomever.
    public func noteUsed(_ points: Int) {
        let now = time.boot()
        state.withLock { $0.budget.count(points - $0.budget.used(at: now), at: now) }
    }

    /// Lets points be published: the feeds are known to be there, or that could not be found out.
    public func allowPublishing() {
        state.withLock { $0.mayPublish = true }
    }

    /// Names the feeds that the service does not have and will not make: points for them are refused here, since ten
    /// failed publishes in a minute get an account banned.
    public func block(_ feeds: Set<FeedKey>) {
        state.withLock { $0.blocked = feeds }
    }

    /// Takes changed settings: a connection that they do not fit is made anew.
    public func apply(_ settings: MQTTLinkSettings) {
        let attempt = state.withLock { state -> Task<LinkEnding?, Never>? in
            let old = state.settings
            state.settings = settings
            state.budget.setLimit(settings.pointsPerMinute)
            guard !settings.isSameConnection(as: old) else { return nil }
            state.isReconfigured = true
            return state.attempt
        }
        attempt?.cancel()
    }

    /// Connects, and connects again, until the task is cancelled.
    public func run() async throws {
        defer { eventSink.finish() }
        while !Task.isCancelled {
            try await waitForLogin()
            let start = time.boot()
            let settings = state.withLock { state in
                state.isReconfigured = false
                state.isUnanswered = false
                state.policy.attempting(at: start)
                return state.settings
            }
            // A task of its own, so that changed settings can end this attempt and not the link.
            let attempt = Task<LinkEnding?, Never> {
                let ending = await connection(settings)
                if !Task.isCancelled { try? await pause(after: ending) }
                return ending
            }
            state.withLock { $0.attempt = attempt }
            if state.withLock({ $0.isReconfigured }) { attempt.cancel() }
            await withTaskCancellationHandler {
                _ = await attempt.value
            } onCancel: {
                attempt.cancel()
            }
            // Whoever paused has said already that the link is down.
            let wasUp = state.withLock { state in
                defer {
                    state.connection = nil
                    state.link.isUp = false
                    state.link.upSince = nil
                    if state.isReconfigured {
                        state.link.reason = .starting
                        state.link.message = "connecting with changed settings"
                    }
                }
                return state.link.isUp
            }
            if wasUp { tell(.down(.closed)) }
        }
    }

    /// Waits until a log-in is allowed: by our own count, and by what the service said.
    private func waitForLogin() async throws {
        while true {
            let now = time.boot()
            let allowed = state.withLock { state -> BootInstant? in
                let allowed = max(state.policy.earliest(at: now), state.hold?.until ?? now)
                guard allowed > now else { return nil }
                state.link.nextTry = allowed
                return allowed
            }
            guard let allowed else { return }
            try await time.sleep(until: allowed)
        }
    }

    /// Publishes a point of the bridge's own, such as the switch's state; false when it could not be sent now.
    ///
    /// It is never queued: the caller keeps the newest one and tries again when the link is up.
    public func publishNow(_ value: String, to feed: FeedKey) async -> Bool {
        let now = time.boot()
        let ready = state.withLock { state -> (MQTTConnection, MQTTLinkSettings)? in
            guard let connection = state.connection, !state.isHeld(at: now), state.mayPublish,
                !state.blocked.contains(feed),
                state.budget.take(at: now)
            else { return nil }
            return (connection, state.settings)
        }
        guard let (connection, settings) = ready else { return false }
        do {
            try await deliver(value, to: settings.topic(feed), over: connection)
            return true
        } catch {
            log.debug("cannot publish to feed \(feed): \(error)")
            return false
        }
    }

    /// Asks the service to send the control feed's last value again; it comes as an event. False when it cannot be asked now.
    public func askForControlValue() async -> Bool {
        let now = time.boot()
        // Whether it costs a data point is not known, so it does.
        let ready = state.withLock { state -> (MQTTConnection, MQTTLinkSettings)? in
            guard let connection = state.connection, !state.isHeld(at: now), state.budget.take(at: now) else {
                return nil
            }
            return (connection, state.settings)
        }
        guard let (connection, settings) = ready else { return false }
        let topic = AdafruitIOTopic.feed(settings.controlFeed.text, of: settings.username, get: true).text
        do {
            try await deliver("", to: topic, over: connection)
            return true
        } catch {
            log.debug("cannot ask for the control feed's value: \(error)")
            return false
        }
    }

    func tell(_ event: LinkEvent) {
        eventSink.yield(event)
    }

    /// Decides when to try again, says so, and waits.
    private func pause(after ending: LinkEnding) async throws {
        let now = time.boot()
        let decision = state.withLock { state in
            var kind = ending.kind
            if let hold = state.hold, hold.until > now, hold.reason == .banned {
                kind = .banned(now.duration(to: hold.until))
            }
            let decision = state.policy.ended(kind, at: now)
            state.connection = nil
            state.link.isUp = false
            state.link.upSince = nil
            state.link.message = ending.message
            switch decision {
            case .attempt(let at, let reason):
                state.link.reason = reason
                state.link.nextTry = at
            case .stop(let reason):
                state.link.reason = reason
                state.link.nextTry = nil
            }
            return decision
        }
        switch decision {
        case .attempt(let at, let reason):
            let seconds = Int(now.duration(to: at).inSeconds.rounded(.up))
            log.warning("MQTT is down (\(reason.rawValue)): \(ending.message). Next try in \(seconds) s")
            tell(.down(reason))
            try await time.sleep(until: at)
        case .stop(let reason):
            log.error(
                "MQTT is down (\(reason.rawValue)): \(ending.message). Not tried again before the configuration changes"
            )
            tell(.down(reason))
            try await time.sleep(for: .seconds(3_000_000_000))
        }
    }
}
