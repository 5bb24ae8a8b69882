import DataPoints
import Diagnostics
import MQTT
import TestKit

@testable import Publisher

/// A running link with a clock that stands still until a test moves it.
final class LinkWorld: Sendable {
    let time = ManualTime()
    let queue: PointBuffer
    let link: MQTTLink
    private let running: Task<Void, any Error>
    private let seen = Guarded<[LinkEvent]>([])
    private let reading: Task<Void, Never>

    init(port: Int, limit: Int = 30, key: String = "key", change: (inout MQTTLinkSettings) -> Void = { _ in }) throws {
        queue = PointBuffer(capacity: 600, time: time)
        var settings = LinkWorld.settings(port: port, limit: limit, key: key)
        change(&settings)
        link = MQTTLink(settings, queue: queue, time: time, log: .silent)
        let (link, seen) = (link, seen)
        running = Task { try await link.run() }
        reading = Task {
            for await event in link.events { seen.withLock { $0.append(event) } }
        }
    }

    deinit {
        running.cancel()
        reading.cancel()
    }

    static func settings(port: Int, limit: Int = 30, key: String = "key", feed: String = "recording")
        -> MQTTLinkSettings
    {
        var connection = MQTTConfiguration(host: "127.0.0.1", port: port)
        connection.clientID = "visitor"
        connection.username = "ada"
        connection.password = Secret(key)
        guard let feed = FeedKey(feed) else { preconditionFailure("\(feed) is no key of a feed") }
        return MQTTLinkSettings(
            connection: connection,
            username: "ada",
            controlFeed: feed,
            pointsPerMinute: limit,
            liveWithin: .seconds(600)
        )
    }

    /// What the link has told so far.
    var events: [LinkEvent] { seen.withLock { $0 } }

    /// Waits for an event: the other side is a peer or a broker.
    func until(_ event: LinkEvent) async throws {
        try await TestKit.until("\(event) has happened; so far: \(events)") { self.events.contains(event) }
    }

    /// Waits until the link says that it is so.
    func until(_ reason: LinkReason) async throws {
        try await TestKit.until("the link is \(reason), not \(link.linkState)") { self.link.linkState.reason == reason }
    }

    /// How long from now until the next log-in.
    var pause: Duration? { link.linkState.nextTry.map { time.boot().duration(to: $0) } }

    func append(_ count: Int, feed: String = "load") throws {
        guard let feed = FeedKey(feed) else { preconditionFailure("\(feed) is no key of a feed") }
        queue.append((0..<count).map { DataPoint(feed: feed, value: "\($0)", createdAt: time.wall()) })
    }

    /// Ends the link and returns when it has ended.
    func stop() async {
        running.cancel()
        _ = try? await running.value
    }
}
