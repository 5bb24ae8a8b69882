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
        var ban: Duration?
    }

    let settings: MQTTLinkSettings
    let queue: any PointQueue
    let time: any TimeSource
    let log: Log
    let state: Guarded<State>
    private let eventSink: AsyncStream<LinkEvent>.Continuation

    /// What happens on the link, in order. One task reads it; of values that nobody reads the newest 64 are kept.
    public let events: AsyncStream<LinkEvent>

    /// Makes a link that is not connected.
    public init(_ settings: MQTTLinkSettings, queue: any PointQueue, time: any TimeSource, log: Log) {
        self.settings = settings
        self.queue = queue
        self.time = time
        self.log = log
        state = Guarded(State(budget: RollingBudget(limit: settings.pointsPerMinute)))
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// How the link is doing.
    public var linkState: LinkState { state.withLock { $0.link } }

    /// How many points may be sent in a minute, and how many were in the last one.
    public var budget: (limit: Int, used: Int) {
        let now = time.boot()
        return state.withLock { ($0.budget.limit, $0.budget.used(at: now)) }
    }

    /// Changes how many points may be sent in a minute.
    public func setPointsPerMinute(_ points: Int) {
        state.withLock { $0.budget.setLimit(points) }
    }

    /// Connects, and connects again, until the task is cancelled.
    public func run() async throws {
        defer { eventSink.finish() }
        while true {
            try Task.checkCancellation()
            let start = time.boot()
            state.withLock { $0.policy.attempting(at: start) }
            let ending = await connection()
            if Task.isCancelled { return }
            try await pause(after: ending)
        }
    }

    /// Publishes a point of the bridge's own, such as the switch's state; false when it could not be sent now.
    ///
    /// It is never queued: the caller keeps the newest one and tries again when the link is up.
    public func publishNow(_ value: String, to feed: FeedKey) async -> Bool {
        let now = time.boot()
        let connection = state.withLock { state -> MQTTConnection? in
            guard let connection = state.connection, state.link.holdUntil.map({ $0 <= now }) ?? true,
                state.budget.take(at: now)
            else { return nil }
            return connection
        }
        guard let connection else { return false }
        do {
            try await connection.publish(Array(value.utf8), to: topic(feed), qos: .atLeastOnce)
            return true
        } catch {
            log.debug("cannot publish to feed \(feed): \(error)")
            return false
        }
    }

    /// Asks the service to send the control feed's last value again; it comes as an event. False when the link is down.
    public func askForControlValue() async -> Bool {
        guard let connection = state.withLock({ $0.connection }) else { return false }
        let topic = AdafruitIOTopic.feed(settings.controlFeed.text, of: settings.username, get: true).text
        do {
            try await connection.publish([], to: topic, qos: .atLeastOnce)
            return true
        } catch {
            log.debug("cannot ask for the control feed's value: \(error)")
            return false
        }
    }

    func topic(_ feed: FeedKey) -> String {
        AdafruitIOTopic.feed(feed.text, of: settings.username).text
    }

    func tell(_ event: LinkEvent) {
        eventSink.yield(event)
    }

    /// Decides when to try again, says so, and waits.
    private func pause(after ending: LinkEnding) async throws {
        let now = time.boot()
        let decision = state.withLock { state in
            var kind = ending.kind
            if let ban = state.ban {
                kind = .banned(ban)
                state.ban = nil
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
            log.error("MQTT is down (\(reason.rawValue)): \(ending.message). Not tried again before the configuration changes")
            tell(.down(reason))
            try await time.sleep(for: .seconds(3_000_000_000))
        }
    }
}
