internal import DataPoints
internal import Diagnostics
internal import HTTPServer
internal import Sockets

extension SimulatedService {
    /// Stores one value that was paid for and sends it to everybody who listens. On `executor`.
    ///
    /// A time in the past is kept; whether such a point becomes the last value, and whether it is sent, are options.
    func store(
        _ value: String,
        location: Location?,
        createdAt: Timestamp?,
        in feed: StoredFeed,
        account: String,
        isFromDashboard: Bool = false
    ) throws(StoreError) -> StoredDatum {
        let isOld = createdAt.map { time.wall() - $0 > SimulatedService.backdatedFrom } ?? false
        let datum = try keep(value, location: location, createdAt: createdAt, in: feed, account: account)
        guard !isOld || options.backdatedIsSent else { return datum }
        let times = isFromDashboard && options.doubleDashboardWrites ? 2 : 1
        for _ in 0..<times { fanOut([FeedUpdate(feed: feed, datum: datum)], of: account, qos: 1) }
        return datum
    }

    /// A point whose time is longer ago than this is back-dated.
    static let backdatedFrom = Duration.seconds(5)

    /// Stores one value and tells the dashboards.
    func keep(
        _ value: String,
        location: Location?,
        createdAt: Timestamp?,
        in feed: StoredFeed,
        account: String
    ) throws(StoreError) -> StoredDatum {
        executor.checkIsolated()
        let datum = try store.append(
            value: value,
            location: location,
            createdAt: createdAt ?? time.wall(),
            to: feed,
            alwaysLast: createdAt == nil || options.backdatedBecomesLast || faults.isBackdatedLast
        )
        count(account) { $0.points += 1 }
        let isLast = try store.last(feed)?.id == datum.id
        hub.send(.point(feed, datum, isLast: isLast), to: account)
        return datum
    }

    /// Takes points out of the account's minute, all or none; the seconds to wait when there is no room.
    func spend(points: Int, account: String) -> Int? {
        switch meter(account, { $0.takePoints(points, at: $1) }) {
        case .taken: return nil
        case .throttled(let seconds):
            count(account) { $0.rejected += points }
            tell(account, .throttle, ServiceTexts.dataRate(user: account, seconds: seconds))
            return seconds
        case .banned(let seconds, let isNew):
            count(account) { $0.rejected += points }
            if isNew { announceBan(of: account, seconds: seconds) }
            return seconds
        }
    }

    /// How much of each limit is used.
    func rates(of account: String) -> AccountRates {
        meter(account) { $0.rates(at: $1) }
    }

    /// Counts a request of the REST interface.
    func countRequest(of account: String) {
        count(account) { $0.restRequests += 1 }
    }

    /// What is to go wrong with the next request of the REST interface.
    func restFault() -> RESTFault {
        var fault = RESTFault()
        fault.delay = faults.restDelay
        if let (status, retryAfter) = faults.restRefusal() {
            var error = RESTError(status, "request failed - the service is told to fail")
            if let retryAfter { error.headers["Retry-After"] = String(retryAfter) }
            fault.refusal = error.response
        } else {
            fault.losesAnswer = faults.losesAnswer()
        }
        return fault
    }
}
