internal import DataPoints
internal import Diagnostics
internal import PhoneSamplers

/// Takes values of feeds to devices on the local broker. Safe from any thread.
final class Forwards: Sendable {
    private let machine = Guarded(ForwardStateMachine())
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// The feeds that are forwarded.
    var feeds: Set<FeedKey> { machine.withLock { $0.feeds } }

    /// Takes other controls.
    func replace(_ forwards: [Configuration.Forward]) {
        machine.withLock { $0.replace(forwards) }
    }

    /// Takes note of what rules have made: it comes back as an echo.
    func noteOwn(_ points: [DataPoint], at now: BootInstant) {
        machine.withLock { machine in
            let feeds = machine.feeds
            guard !feeds.isEmpty else { return }
            for point in points where feeds.contains(point.feed) {
                machine.noteOwn(point.value, for: point.feed, at: now)
            }
        }
    }

    /// Takes a value of a feed to its device.
    func take(_ text: String, of feed: FeedKey, to broker: LocalBroker?, at now: BootInstant) async {
        for decision in machine.withLock({ $0.decide(text, of: feed, at: now) }) {
            switch decision {
            case .nothing: break
            case .circle(let topic):
                log.warning(
                    "feed \(feed) changes \(ForwardStateMachine.mostAMinute) times a minute: \(topic) gets nothing for a minute, as it seems to go round in a circle"
                )
            case .unusable(let topic):
                log.warning("a value of feed \(feed) does not fit into the template for \(topic)")
            case .publish(let payload, let topic, let retain):
                let why = await broker?.publish(payload, to: topic, retain: retain)
                guard broker == nil || why != nil else { continue }
                machine.withLock { $0.failed(topic: topic) }
                log.warning("feed \(feed) did not reach \(topic): \(why ?? "there is no local broker")")
            }
        }
    }
}
