internal import DataPoints
internal import Diagnostics

/// Points coming and going between the outbox and the window.
extension PublisherStateMachine {
    private static let mostFresh = 32

    mutating func accepted(_ points: [PublisherPoint]) {
        for point in points {
            let index = lane(for: point.point.feed)
            lanes[index].waiting += 1
            lanes[index].counting?.came += 1
            lanes[index].newest = max(lanes[index].newest, point.id)
            guard !refuseIfTooLarge(index, point), !lanes[index].holds(point.id) else { continue }
            if point.bornAt == nil || point.attempts > 0 || lanes[index].fresh.count >= Self.mostFresh {
                lanes[index].letGo(point)
            } else {
                memory.budget.countArrivals(1, at: now)
                lanes[index].fresh.append(point)
            }
        }
    }

    mutating func paged(_ feed: FeedKey, _ points: [PublisherPoint], hasMore: Bool) {
        let index = lane(for: feed)
        guard lanes[index].isPaging else { return }
        lanes[index].isPaging = false
        let finished = lanes[index].finished
        lanes[index].finished = []
        let mayGoBack = lanes[index].cursor
        lanes[index].hasMore = hasMore || lanes[index].rewound
        lanes[index].rewound = false
        if let last = points.last, lanes[index].cursor == lanes[index].pageFrom {
            lanes[index].cursor = max(mayGoBack, last.id)
        }
        for point in points where !finished.contains(point.id) && !lanes[index].holds(point.id) {
            guard !refuseIfTooLarge(index, point) else { continue }
            guard point.attempts > 0 else {
                lanes[index].old.append(point)
                continue
            }
            // A second attempt went by REST: an entry near the time of the first one proves nothing any more.
            if point.attempts > 1 { memory.flights[point.id] = nil }
            doubt(index, [point])
        }
        lanes[index].old.sort { $0.id < $1.id }
    }

    /// The outbox of a plain broker's points holds so many more of that feed.
    mutating func more(_ feed: FeedKey, _ count: Int) {
        plain.lanes[plain.lane(for: feed)].accept(more: count)
    }

    /// These points have arrived.
    mutating func finish(_ index: Int, confirmed ids: [Int]) {
        forget(index, ids)
        actions.append(.confirm(ids))
    }

    /// These points will never be taken.
    mutating func finish(_ index: Int, refused ids: [Int], reason: String) {
        forget(index, ids)
        actions.append(.refuse(ids, reason: reason))
    }

    private mutating func forget(_ index: Int, _ ids: [Int]) {
        lanes[index].left(ids.count)
        if lanes[index].isPaging { lanes[index].finished.formUnion(ids) }
        for id in ids where memory.flights[id] != nil {
            memory.flights[id] = nil
            isMemoryChanged = true
        }
    }

    private mutating func refuseIfTooLarge(_ index: Int, _ point: PublisherPoint) -> Bool {
        let keepsHistory = !settings.feedsWithoutHistory.contains(point.point.feed)
        let most = keepsHistory ? PointLimits.valueBytes : PointLimits.valueBytesWithoutHistory
        let size = point.text.utf8.count
        guard size > most else { return false }
        finish(index, refused: [point.id], reason: "the value has \(size) bytes and the service takes \(most)")
        return true
    }

    /// Does what time alone brings about for one feed.
    mutating func tend(_ index: Int) {
        if let held = lanes[index].heldUntil, held <= now { lanes[index].heldUntil = nil }
        if !lanes[index].parked.isEmpty {
            let due = lanes[index].parked.filter { $0.until <= now }.map(\.point)
            if !due.isEmpty {
                lanes[index].parked.removeAll { $0.until <= now }
                let live = due.filter { isLive($0) }
                lanes[index].fresh = (live + lanes[index].fresh).sorted { $0.id < $1.id }
                lanes[index].putBack(due.filter { !isLive($0) }, most: settings.page)
            }
        }
        giveUpIfDue(index)
        age(index)
        if needsPage(index) {
            lanes[index].isPaging = true
            lanes[index].pageFrom = lanes[index].cursor
            lanes[index].rewound = false
            lanes[index].finished = []
            actions.append(.requestPage(lanes[index].feed, after: lanes[index].cursor, limit: settings.page))
        }
    }

    private func needsPage(_ index: Int) -> Bool {
        let lane = lanes[index]
        guard lane.hasMore, !lane.isPaging else { return false }
        return canDrain && lane.old.isEmpty && lane.doubts.isEmpty && lane.flight == nil && lane.lookUp == nil
            && !lane.isHeld && lane.parked.count < settings.page
    }

    private func isLive(_ point: PublisherPoint) -> Bool {
        point.bornAt.map { $0.advanced(by: settings.liveWithin) > now } ?? false
    }

    /// What is too old to be live belongs to the backlog.
    private mutating func age(_ index: Int) {
        while let first = lanes[index].fresh.first, !isLive(first) {
            lanes[index].fresh.removeFirst()
            memory.budget.arrivalAged()
            if lanes[index].hasMore || lanes[index].old.count >= settings.page {
                lanes[index].letGo(first)
            } else {
                lanes[index].putBack([first], most: settings.page)
            }
        }
    }
}
