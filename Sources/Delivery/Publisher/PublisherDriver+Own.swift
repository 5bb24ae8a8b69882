internal import AdafruitIO
public import AdafruitIOClient
public import DataPoints
public import Diagnostics
internal import MQTT

/// What became of a value that the bridge itself wrote.
public enum OwnWrite: Sendable, Hashable {
    /// The broker has it; its echo will come.
    case published
    /// REST has stored it, at the service's time.
    case stored(Timestamp?)
    /// Not written, or nobody knows.
    case failed
}

extension PublisherDriver {
    /// Writes a value of the bridge's own, such as the switch's state, now or not at all.
    public func write(_ text: String, to feed: FeedKey) async -> OwnWrite {
        switch await ask(.write(feed, text)) {
        case .mqtt:
            guard let connection = newest.flatMap({ connections[$0] }) else { return .failed }
            do {
                try await connection.publish(
                    Array(text.utf8),
                    to: access.topic(feed),
                    qos: .atLeastOnce,
                    retain: access.broker != nil
                )
                return .published
            } catch {
                log.debug("cannot publish to feed \(feed): \(error)")
                return .failed
            }
        case .rest:
            guard let client = access.client else { return .failed }
            do {
                let reply = try await client.createPoint(text, in: feed)
                learn(.stored, reply.date)
                return .stored(reply.value.createdAt)
            } catch {
                learn(RESTOutcome(error), error.refusal?.date)
                log.debug("cannot write feed \(feed): \(error)")
                return .failed
            }
        case nil:
            return .failed
        }
    }

    /// Asks over MQTT for the control feed's last value, which comes as an event; false when that is not possible.
    public func askForControlValue() async -> Bool {
        guard access.broker == nil, let connection = newest.flatMap({ connections[$0] }) else { return false }
        let topic = AdafruitIOTopic.feed(access.controlFeed.text, of: access.username, get: true).text
        do {
            try await connection.publish([], to: topic, qos: .atLeastOnce)
            return true
        } catch {
            log.debug("cannot ask for the control feed's value: \(error)")
            return false
        }
    }

    /// Does something by REST that changes nothing; nil when REST may not be used now.
    public func read<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>? {
        try await granted(.read, body)
    }

    /// Creates or changes one feed or group by REST; nil when that may not be done now.
    public func administer<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>? {
        try await granted(.administer(1), body)
    }

    private func granted<Value: Sendable>(
        _ kind: OwnRequest.Kind,
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>? {
        guard let client = access.client, await ask(kind) != nil else { return nil }
        do throws(AdafruitIOClientError) {
            let reply = try await body(client)
            learn(.stored, reply.date)
            return reply
        } catch {
            learn(RESTOutcome(error), error.refusal?.date)
            throw error
        }
    }

    private func learn(_ outcome: RESTOutcome, _ date: Timestamp?) {
        if let date { told(serviceTime: date) }
        inbox.yield(.ownAnswered(outcome))
    }

    func say(_ report: PublisherReport) {
        let now = time.boot()
        func inTime(_ moment: BootInstant?) -> String {
            moment.map { "next try in \(max(0, Int(now.duration(to: $0).inSeconds.rounded(.up)))) s" }
                ?? "not tried before the configuration changes"
        }
        switch report {
        case .mqttIsUp: log.info("MQTT is up: \(access.connection.host):\(access.connection.port)")
        case .mqttIsDown(let reason, let next): log.warning("MQTT is down (\(reason.rawValue)): \(inTime(next))")
        case .restTakesOver: log.warning("REST takes over while MQTT is down")
        case .restIsDown(let reason, let until): log.warning("REST is down (\(reason.rawValue)): \(inTime(until))")
        case .accountIsHeld(let reason, let until):
            log.warning("the service wants a pause (\(reason.rawValue)): \(inTime(until)), nothing is sent until then")
        case .keyIsRefused(let until):
            log.error("the service refuses user name or key: \(inTime(until)), or when they change")
        case .feedLimit(let feed):
            log.error("the account has no room for feed \(feed): delete a feed or upgrade the plan; its points wait")
        case .feedIsForbidden(let feed, let why): log.error("the key may not write feed \(feed): \(why)")
        case .notSubscribed(let filter):
            log.warning("not subscribed to \(access.filter(filter)): its points are confirmed by REST")
        case .stretched(let stretch): log.warning("\(stretch)")
        case .silentConnection: log.warning("the connection takes messages and nothing comes back: it is made anew")
        }
    }
}
