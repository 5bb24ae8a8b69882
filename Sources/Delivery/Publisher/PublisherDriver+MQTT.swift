internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import MQTT
internal import Outbox

extension PublisherDriver {
    /// Logs in with a handle of its own; exactly one `ended` follows, sooner or later.
    func connect(_ number: Int) {
        let (configuration, time) = (access.connection, time)
        newest = number
        switchValue = nil
        attempts[number] = Task {
            do throws(MQTTError) {
                defer { attempts[number] = nil }
                let connection = try await MQTTConnection.connect(configuration, time: time)
                // Nobody wants it any more.
                guard newest == number else {
                    await connection.disconnect()
                    return
                }
                connections[number] = connection
                inbox.yield(.mqtt(connection: number, .connected))
                let reason = await connection.ended
                connections[number] = nil
                // What became of its messages comes first.
                for (_, batch) in batches { await batch.value }
                let isUnwritable = unwritable.remove(number) != nil
                let ending = isUnwritable ? .failed(.diskFull) : LinkEnding(reason).kind
                inbox.yield(.mqtt(connection: number, .ended(ending)))
            } catch {
                log.debug("MQTT: \(error)")
                inbox.yield(.mqtt(connection: number, .ended(LinkEnding(error).kind)))
            }
        }
    }

    func disconnect(_ number: Int) {
        guard let connection = connections[number] else {
            // Still on its way: it is to log in no more.
            if newest == number {
                newest = nil
                attempts[number]?.cancel()
                inbox.yield(.mqtt(connection: number, .ended(.failed(.closed))))
            }
            return
        }
        Task { await connection.disconnect() }
    }

    func subscribe(_ number: Int, _ filters: [PublisherFilter]) {
        guard let connection = connections[number] else { return }
        let access = access
        Task {
            for filter in filters {
                do {
                    let subscription = try await connection.subscribe(
                        to: access.filter(filter),
                        qos: .atLeastOnce,
                        buffer: filter == .control ? .newest(1) : .all(upTo: 1024)
                    )
                    inbox.yield(.mqtt(connection: number, .subscribed(filter)))
                    Task { await follow(subscription, filter, number, access) }
                    await askForValues(filter, connection)
                } catch {
                    log.debug("cannot subscribe to \(access.filter(filter)): \(error)")
                    inbox.yield(.mqtt(connection: number, .subscribeFailed(filter)))
                }
            }
        }
    }

    /// Publishes a message once the outbox has noted it.
    func publish(_ number: Int, _ message: Int, _ points: [PublisherPoint]) async {
        guard let first = points.first, let marked = await note(points, of: first.point.feed) else {
            // As the machine knows it: what goes wrong here is an end of the connection. Nobody else ended it.
            if connections[number] != nil { unwritable.insert(number) }
            return disconnect(number)
        }
        guard !marked.isEmpty, let connection = connections[number] else { return }
        let payload = Array(FeedPayload.published(first.point).utf8)
        let topic = access.topic(first.point.feed)
        Task {
            do {
                try await connection.publish(payload, to: topic, qos: .atLeastOnce)
                inbox.yield(.mqtt(connection: number, .acknowledged(message: message)))
            } catch {
                log.debug("cannot publish: \(error)")
                await connection.disconnect()
            }
        }
    }

    private func follow(
        _ subscription: MQTTSubscription,
        _ filter: PublisherFilter,
        _ number: Int,
        _ access: PublisherAccess
    ) async {
        for await message in subscription.messages {
            if access.broker != nil {
                heard(message, number)
                continue
            }
            switch filter {
            case .errors, .throttle:
                for what in understand(ServiceMessage(message.payload), access) {
                    inbox.yield(.mqtt(connection: number, what))
                }
            case .control, .feed, .allFeeds:
                guard let feed = access.feed(of: message.topic),
                    let text = String(validating: message.payload, as: UTF8.self)
                else { continue }
                let settings = machine.settings
                let isFollowed = settings.followed.contains(feed)
                if case .allFeeds = filter, !isFollowed, !settings.rules.contains(where: { $0.feed == feed }) {
                    continue
                }
                if isFollowed, filter != .control { eventSink.yield(.value(feed, text)) }
                inbox.yield(.mqtt(connection: number, .echoed(feed, text)))
                if filter == .control { eventSink.yield(.control(text, retained: false)) }
            }
        }
    }

    /// Asks for the last values of followed feeds, which may have changed while nobody listened.
    ///
    /// Not where a rule writes, too: the last value may be our own.
    private func askForValues(_ filter: PublisherFilter, _ connection: MQTTConnection) async {
        let settings = machine.settings
        guard !settings.isPlain else { return }
        for feed in settings.followed where filter == .feed(feed) || filter == .allFeeds {
            if settings.rules.contains(where: { $0.feed == feed }) { continue }
            let topic = AdafruitIOTopic.feed(feed.text, of: access.username, get: true).text
            do {
                try await connection.publish([], to: topic, qos: .atLeastOnce)
            } catch {
                log.debug("cannot ask for the value of feed \(feed): \(error)")
            }
        }
    }

    /// What a message of the `errors` or `throttle` topic means for the publisher.
    private func understand(_ message: ServiceMessage, _ access: PublisherAccess) -> [MQTTHappening] {
        log.warning("Adafruit IO says: \(message.text)")
        switch message.reason {
        case .dataRate(let wait): return [.throttled(wait)]
        case .banned(let wait): return [.banned(wait)]
        case .blocked: return [.banned(.seconds(60))]
        case .subscribesLeft, .tooManyRequests, .flood: return []
        case .invalidTopic, .notSharedFeed, .notAuthorized, .validation, .other:
            let words = message.text.split(separator: " ").map(String.init)
            let topic = words.first { $0.hasPrefix("\(access.username)/") }
            if words.contains("SUBSCRIBE") {
                let filters: [PublisherFilter] =
                    [.control, .errors, .throttle, .allFeeds]
                    + (machine.settings.rules.map(\.feed) + machine.settings.followed).map { .feed($0) }
                return filters.filter { access.filter($0) == topic }.map(MQTTHappening.subscribeFailed)
            }
            return [.rejected(topic.flatMap(access.feed))]
        }
    }
}
