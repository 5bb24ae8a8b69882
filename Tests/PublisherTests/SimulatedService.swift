import DataPoints
import Diagnostics
import Publisher

/// What Adafruit IO does, as far as the publisher can tell. Times are seconds; its clock is our boot clock plus `epoch`.
struct SimulatedService {
    struct Entry {
        var id: Int
        var feed: FeedKey
        var text: String
        var createdAt: Timestamp
        /// The point of ours that it is; nil: somebody else's. The publisher never sees this.
        var origin: Int?
        var isByMQTT: Bool
        var arrivedAt: Double
    }

    static let epoch = 1_790_000_000.0
    var plan = 30
    var entries: [FeedKey: [Entry]] = [:]
    var nextID = 1
    var bannedUntil = 0.0
    var isKeyRefused = false
    /// Whether its lists show times cut to the second.
    var cutsTimes = false
    private(set) var counted: [Double] = []
    private var rejected: [Double] = []
    private(set) var mostRejectedInAMinute = 0

    func time(at now: Double) -> Timestamp { Timestamp(nanoseconds: Int64((Self.epoch + now) * 1e9)) }

    /// Counts a point; nil when it is taken, else how long nothing is taken.
    mutating func count(at now: Double) -> Double? {
        counted.removeAll { $0 <= now - 60 }
        guard counted.count < plan else { return (counted[0] + 60 - now).rounded(.up) }
        counted.append(now)
        return nil
    }

    mutating func reject(at now: Double) {
        rejected.removeAll { $0 <= now - 60 }
        rejected.append(now)
        mostRejectedInAMinute = max(mostRejectedInAMinute, rejected.count)
    }

    mutating func store(_ point: PublisherPoint, byMQTT: Bool, at now: Double) {
        add(
            Entry(
                id: 0,
                feed: point.point.feed,
                text: point.point.value,
                createdAt: byMQTT ? time(at: now) : point.point.createdAt,
                origin: point.id,
                isByMQTT: byMQTT,
                arrivedAt: now
            )
        )
    }

    mutating func add(_ entry: Entry) {
        var entry = entry
        entry.id = nextID
        nextID += 1
        entries[entry.feed, default: []].append(entry)
    }

    func list(_ feed: FeedKey, from: Timestamp, to: Timestamp) -> [StoredPoint] {
        // Points of long ago stand at the front, those of now at the end: what is asked for is near the end.
        (entries[feed] ?? []).suffix(3000).compactMap { entry in
            guard entry.createdAt >= from, entry.createdAt <= to else { return nil }
            var shown = entry.createdAt
            if cutsTimes { shown.nanoseconds -= shown.nanoseconds % 1_000_000_000 }
            return StoredPoint(id: "\(entry.id)", text: entry.text, createdAt: shown)
        }
    }

    mutating func delete(_ feed: FeedKey, _ id: String) {
        entries[feed]?.removeAll { "\($0.id)" == id }
    }
}
