internal import DataPoints
internal import Diagnostics
internal import HTTPServer

/// What REST and the dashboards ask of the service. Those that touch the store are called on `executor`.
extension SimulatedService {
    /// What became of a write.
    enum WriteOutcome: Sendable {
        case stored
        case throttled(seconds: Int)
        case refused(String)
    }

    /// What is to go wrong with a request.
    struct RESTFault: Sendable {
        var delay: Duration?
        var refusal: HTTPResponse?
        var losesAnswer = false
    }

    /// Writes a value as a dashboard does.
    func write(_ value: String, to feed: StoredFeed, account: String) throws(StoreError) -> WriteOutcome {
        let most = feed.history ? PointLimits.valueBytes : PointLimits.valueBytesWithoutHistory
        guard value.utf8.count <= most else { return .refused("the value is longer than \(most) bytes") }
        if let seconds = spend(points: 1, account: account) { return .throttled(seconds: seconds) }
        _ = try store(value, location: nil, createdAt: nil, in: feed, account: account, isFromDashboard: true)
        return .stored
    }

    /// What happens on an account from now on.
    func events(of account: String) -> AsyncStream<ServiceEvent> {
        hub.events(of: account)
    }

    /// Tells the pages that a dashboard has changed.
    func dashboardChanged(_ key: String, account: String) {
        hub.send(.dashboardChanged(key: key), to: account)
    }
}
