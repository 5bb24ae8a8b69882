import DataPoints
import Diagnostics
import Publisher

/// The durable queue, as the publisher's driver uses it, with the count that must always be right.
struct SimulatedOutbox {
    private(set) var rows: [FeedKey: [PublisherPoint]] = [:]
    private(set) var accepted = 0
    private(set) var confirmed: Set<Int> = []
    private(set) var refused: Set<Int> = []
    private(set) var evicted: Set<Int> = []
    private(set) var faults: [String] = []
    private var feedOf: [Int: FeedKey] = [:]

    var pending: Int { rows.values.reduce(0) { $0 + $1.count } }
    var isBalanced: Bool { accepted == confirmed.count + refused.count + evicted.count + pending }
    var waiting: [FeedKey: Int] { rows.mapValues(\.count).filter { $0.value > 0 } }

    mutating func append(_ point: DataPoint, bornAt: BootInstant?) -> PublisherPoint {
        accepted += 1
        let row = PublisherPoint(id: accepted, point: point, bornAt: bornAt)
        rows[point.feed, default: []].append(row)
        feedOf[row.id] = point.feed
        return row
    }

    /// Notes that points are being sent; says which of them have been evicted.
    mutating func noteSending(_ points: [PublisherPoint]) -> [Int] {
        for point in points {
            let place = rows[point.point.feed]?.firstIndex { $0.id == point.id }
            if let place {
                rows[point.point.feed]?[place].attempts += 1
            } else if !evicted.contains(point.id) {
                faults.append("point \(point.id) is sent and has left already")
            }
        }
        return points.map(\.id).filter { evicted.contains($0) }
    }

    mutating func confirm(_ ids: [Int]) {
        for id in ids where remove(id, "confirmed") { confirmed.insert(id) }
    }

    mutating func refuse(_ ids: [Int]) {
        for id in ids where remove(id, "refused") { refused.insert(id) }
    }

    mutating func evictOldest(_ feed: FeedKey) -> Int? {
        guard let first = rows[feed]?.first else { return nil }
        rows[feed]?.removeFirst()
        evicted.insert(first.id)
        return first.id
    }

    func standing(_ feed: FeedKey, newest: Int, among ids: [Int]) -> (count: Int, gone: [Int]) {
        let there = rows[feed] ?? []
        let known = Set(there.map(\.id))
        return (there.count { $0.id <= newest }, ids.filter { !known.contains($0) })
    }

    func page(_ feed: FeedKey, after: Int, limit: Int) -> (points: [PublisherPoint], hasMore: Bool) {
        var found: [PublisherPoint] = []
        for row in rows[feed] ?? [] where row.id > after {
            if found.count == limit { return (found, true) }
            found.append(row)
        }
        return (found, false)
    }

    private mutating func remove(_ id: Int, _ what: String) -> Bool {
        guard let feed = feedOf[id], let place = rows[feed]?.firstIndex(where: { $0.id == id }) else {
            if !evicted.contains(id) { faults.append("point \(id) is \(what) and has left already") }
            return false
        }
        rows[feed]?.remove(at: place)
        return true
    }
}
