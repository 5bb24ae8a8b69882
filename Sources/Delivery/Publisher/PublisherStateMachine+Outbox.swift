internal import DataPoints
internal import Diagnostics

/// Keeping up with an outbox that lets go of points by itself: too many, too old, dropped by a command.
extension PublisherStateMachine {
    /// Asks the outbox what it still has of a feed.
    mutating func count(_ index: Int) {
        guard lanes[index].counting == nil else {
            lanes[index].wantsCount = true
            return
        }
        lanes[index].wantsCount = false
        lanes[index].counting = (0, 0)
        actions.append(.count(lanes[index].feed, newest: lanes[index].newest, among: lanes[index].resting))
    }

    mutating func counted(_ feed: FeedKey, waiting: Int, gone: [Int]) {
        guard let index = laneOf[feed], let since = lanes[index].counting else { return }
        lanes[index].counting = nil
        lanes[index].waiting = max(0, waiting + since.came - since.left)
        let gone = Set(gone)
        lanes[index].drop(gone)
        forgetFlights(gone)
        // More than is in sight: it may stand anywhere.
        if lanes[index].waiting > lanes[index].held { lanes[index].rewind() }
        if lanes[index].wantsCount { count(index) }
    }

    /// What was to carry these points does not.
    mutating func gone(_ feed: FeedKey, _ ids: [Int]) {
        guard let index = laneOf[feed] else { return }
        let gone = Set(ids)
        lanes[index].left(ids.count)
        forgetFlights(gone)
        switch lanes[index].flight {
        case .mqtt(let message, let point, let at, _) where gone.contains(point.id):
            lanes[index].flight = nil
            memory.budget.refund(message)
            memory.budget.failedPublishes.takeBack(at)
        case .post(let request, let points) where points.contains { gone.contains($0.id) }:
            settleText(index, points.filter { gone.contains($0.id) })
            let rest = points.filter { !gone.contains($0.id) }
            lanes[index].flight = rest.isEmpty ? nil : .post(request: request, rest)
            if rest.isEmpty {
                self.rest.requests[request] = nil
                memory.budget.refund(request)
            }
        default: break
        }
        isMemoryChanged = true
        count(index)
    }

    private mutating func forgetFlights(_ ids: Set<Int>) {
        for id in ids where memory.flights[id] != nil {
            memory.flights[id] = nil
            isMemoryChanged = true
        }
    }
}
