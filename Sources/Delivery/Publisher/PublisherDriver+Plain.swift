internal import DataPoints
internal import Diagnostics
internal import MQTT
internal import Outbox

/// A message to a plain broker that the machine wants published.
struct PlainMessage {
    var connection: Int
    var number: Int
    var points: [PublisherPoint]
}

/// What only plain brokers need: batches of messages, and the switch as a retained message.
extension PublisherDriver {
    private static let largestBatch = 256

    /// Publishes messages, many at once, when the outbox has noted all their points in one commit.
    func publish(_ messages: [PlainMessage]) async {
        guard let number = messages.first?.connection, let broker = access.broker,
            case .plain(_, let pointsPerMessage) = machine.settings.profile
        else { return }
        let marked = await note(messages.flatMap(\.points))
        guard let marked, let connection = connections[number] else {
            // Nothing of this leaves before it is noted, or after the end: the next connection tries again.
            tell(.mqtt(connection: number, .notSent(messages.map(\.number))))
            if let connection = connections[number] { await connection.disconnect() }
            return
        }
        var topics: [FeedKey: String] = [:]
        var rest = messages[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.largestBatch)
            rest = rest.dropFirst(Self.largestBatch)
            var publications: [MQTTPublication] = []
            publications.reserveCapacity(part.count)
            var numbers: [Int] = []
            var empty: [Int] = []
            for message in part {
                // What has left the outbox meanwhile is not sent.
                let points = message.points.filter { marked.contains(Int64($0.id)) }
                guard let feed = points.first?.point.feed else {
                    empty.append(message.number)
                    continue
                }
                let topic = topics[feed] ?? broker.topic(feed)
                topics[feed] = topic
                let payload = payloads.bytes(points, asList: pointsPerMessage > 1)
                publications.append(MQTTPublication(topic: topic, payload: payload))
                numbers.append(message.number)
            }
            if !empty.isEmpty { tell(.mqtt(connection: number, .acknowledgedAll(empty))) }
            if !numbers.isEmpty { publish(publications, numbers, over: connection, number) }
        }
    }

    private func publish(
        _ publications: [MQTTPublication],
        _ messages: [Int],
        over connection: MQTTConnection,
        _ number: Int
    ) {
        let batch = nextBatch
        nextBatch += 1
        // At once, and not in the task: the order of feeds is that of the calls.
        let submission = connection.submit(publications)
        batches[batch] = Task {
            let errors = await submission.errors
            batches[batch] = nil
            var (taken, unsent): ([Int], [Int]) = ([], [])
            for (message, error) in zip(messages, errors) {
                if let error {
                    if !error.isUnknown { unsent.append(message) }
                } else {
                    taken.append(message)
                }
            }
            if !taken.isEmpty { tell(.mqtt(connection: number, .acknowledgedAll(taken))) }
            if !unsent.isEmpty { tell(.mqtt(connection: number, .notSent(unsent))) }
            guard let error = errors.lazy.compactMap(\.self).first else { return }
            log.debug("cannot publish: \(error)")
            // Not awaited: its end waits for this batch.
            Task { await connection.disconnect() }
        }
    }

    /// Hands in what became of messages; after the end only what has arrived is noted.
    private func tell(_ event: PublisherEvent) {
        guard case .terminated = inbox.yield(event) else { return }
        for case .confirm(let ids) in machine.handle(event, at: time.boot()) { outbox.confirm(ids.map { Int64($0) }) }
    }

    /// Waits a moment for what is on its way: what is acknowledged now is not sent again after the next start.
    func settleBatches() async {
        let deadline = time.boot().advanced(by: .seconds(1))
        while !batches.isEmpty, time.boot() < deadline {
            guard (try? await time.sleep(for: .milliseconds(5))) != nil else { return }
        }
    }

    /// Tells which link works. The switch's value may have come before the machine was ready to say so.
    func use(_ link: PublisherLink?) {
        usedLink = link
        eventSink.yield(.link(link))
        if link == .mqtt, access.broker != nil, let switchValue {
            eventSink.yield(.control(switchValue.text, retained: switchValue.retained))
        }
    }

    /// A message of the switch's topic. An empty one only says that nothing is kept there any more.
    func heard(_ message: MQTTMessage, _ number: Int) {
        guard number == newest, message.topic == access.broker?.switchTopic, !message.payload.isEmpty,
            let text = String(validating: message.payload, as: UTF8.self)
        else { return }
        switchValue = (text, message.retain)
        if usedLink == .mqtt { eventSink.yield(.control(text, retained: message.retain)) }
    }

    /// Says on a plain broker's status topic that the bridge leaves; the will is for when it cannot.
    func sayGoodbye() async {
        guard let broker = access.broker, let connection = newest.flatMap({ connections[$0] }), usedLink == .mqtt else {
            return
        }
        let saying = Task {
            try? await connection.publish(PlainBroker.offline, to: broker.statusTopic, retain: true)
        }
        let watch = Task { [time] in
            try? await time.sleep(for: .seconds(1))
            saying.cancel()
        }
        await saying.value
        watch.cancel()
    }
}
