internal import DataPoints
internal import Diagnostics

/// Decides which values of feeds reach devices: each as a state, not twice, and never one that came from the device.
///
/// A value without lock, clock or input and output.
struct ForwardStateMachine: Sendable {
    /// What is to be done with a value.
    enum Decision: Sendable, Equatable {
        /// Publish this text to that topic.
        case publish(String, topic: String, retain: Bool)
        /// Nothing: it is no news for the device.
        case nothing
        /// Nothing, for a while: it goes round in a circle. To be told once.
        case circle(topic: String)
        /// Nothing: the template cannot hold it. To be told.
        case unusable(topic: String)
    }

    private struct Lane: Sendable {
        var forward: Configuration.Forward
        /// What the device was told last.
        var told: String?
        /// What the device said of itself first after it was told something.
        var answer: String?
        /// What came from here and may come back as an echo, the newest last.
        var own: [(text: String, at: BootInstant)] = []
        /// When something was sent within the last minute.
        var sent: [BootInstant] = []
        var heldUntil: BootInstant?
    }

    /// So many changes a minute are made by no hand.
    static let mostAMinute = 30
    /// An echo comes within this time: a point that waited for long included.
    private static let ownFor = Duration.seconds(3600)
    private static let mostOwn = 256
    private var lanes: [Lane] = []

    /// The feeds that are forwarded.
    var feeds: Set<FeedKey> { Set(lanes.map(\.forward.feed)) }

    /// Takes other controls; what did not change remembers its device's state.
    mutating func replace(_ forwards: [Configuration.Forward]) {
        lanes = forwards.map { forward in
            let same = lanes.first { lane in
                lane.forward.feed == forward.feed && lane.forward.topic == forward.topic
                    && lane.forward.template == forward.template
            }
            var lane = same ?? Lane(forward: forward)
            lane.forward = forward
            return lane
        }
    }

    /// A rule of this bridge has made a value for a feed: what the device has told.
    mutating func noteOwn(_ text: String, for feed: FeedKey, at now: BootInstant) {
        for index in lanes.indices where lanes[index].forward.feed == feed {
            lanes[index].own.removeAll { $0.at.duration(to: now) > Self.ownFor }
            if lanes[index].own.count == Self.mostOwn { lanes[index].own.removeFirst() }
            lanes[index].own.append((text, now))
            // What the device says first may well mean what it was told; what it says differently later does not.
            if lanes[index].answer == nil {
                lanes[index].answer = text
            } else if lanes[index].answer != text {
                lanes[index].told = nil
            }
        }
    }

    /// A value of a feed has come.
    mutating func decide(_ text: String, of feed: FeedKey, at now: BootInstant) -> [Decision] {
        lanes.indices.filter { lanes[$0].forward.feed == feed }.map { decide(text, lane: $0, at: now) }
    }

    private mutating func decide(_ text: String, lane index: Int, at now: BootInstant) -> Decision {
        lanes[index].own.removeAll { $0.at.duration(to: now) > Self.ownFor }
        let own = lanes[index].own
        // The device's newest state is no news for it, and what it said before may come back late.
        if own.last?.text == text { return .nothing }
        if let place = own.firstIndex(where: { $0.text == text }) {
            lanes[index].own.remove(at: place)
            return .nothing
        }
        guard lanes[index].told != text else { return .nothing }
        let forward = lanes[index].forward
        if let held = lanes[index].heldUntil, now < held { return .nothing }
        lanes[index].sent.removeAll { $0.duration(to: now) >= .seconds(60) }
        guard lanes[index].sent.count < Self.mostAMinute else {
            lanes[index].heldUntil = now.advanced(by: .seconds(60))
            return .circle(topic: forward.topic)
        }
        guard let payload = forward.template.text(for: text) else { return .unusable(topic: forward.topic) }
        lanes[index].sent.append(now)
        lanes[index].told = text
        lanes[index].answer = nil
        return .publish(payload, topic: forward.topic, retain: forward.retain)
    }

    /// A text that was decided on did not reach the broker: the next value counts, whatever it is.
    mutating func failed(topic: String) {
        for index in lanes.indices where lanes[index].forward.topic == topic { lanes[index].told = nil }
    }
}
