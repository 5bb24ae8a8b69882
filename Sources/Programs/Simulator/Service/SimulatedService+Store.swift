internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import HTTPServer

extension SimulatedService {
    /// Stores one value that was paid for and sends it to everybody who listens. On `executor`.
    ///
    /// A time in the past is kept; whether such a point becomes the last value is an option.
    func store(
        _ value: String,
        location: Location?,
        createdAt: Timestamp?,
        in feed: StoredFeed,
        account: String,
        isFromDashboard: Bool = false
    ) throws(StoreError) -> StoredDatum {
        let datum = try store.append(
            value: value,
            location: location,
            createdAt: createdAt ?? time.wall(),
            to: feed,
            alwaysLast: createdAt != nil && options.backdatedBecomesLast
        )
        let isLast = try store.last(feed)?.id == datum.id
        deliver(datum, of: feed, account: account, isLast: isLast)
        if isFromDashboard, options.doubleDashboardWrites {
            deliver(datum, of: feed, account: account, isLast: isLast)
        }
        return datum
    }

    private func deliver(_ datum: StoredDatum, of feed: StoredFeed, account: String, isLast: Bool) {
        hub.send(.point(feed, datum, isLast: isLast), to: account)
    }

    /// Takes points out of the account's minute, all or none; the seconds to wait when there is no room.
    func spend(points: Int, account: String) -> Int? {
        let now = time.boot()
        let limit = plan(of: account).pointsPerMinute
        return meters.withLock { meters in
            var meter = meters[account] ?? Meter()
            defer { meters[account] = meter }
            let wait = meter.data.wait(for: points, below: limit, at: now)
            guard wait == .zero else { return max(1, Int(wait.inSeconds.rounded(.up))) }
            meter.data.add(points, at: now)
            return nil
        }
    }

    /// How much of each limit is used.
    func rates(of account: String) -> Rates {
        let now = time.boot()
        return meters.withLock { meters in
            var meter = meters[account] ?? Meter()
            defer { meters[account] = meter }
            return Rates(data: meter.data.count(at: now))
        }
    }

    /// Counts a request of the REST interface.
    func countRequest(of account: String) {
        meters.withLock { $0[account, default: Meter()].requests += 1 }
    }

    /// What is to go wrong with the next request of the REST interface.
    func restFault() -> RESTFault {
        RESTFault()
    }
}
