internal import HTTPServer

/// What is not known of the service, so that it can be set.
public struct SimulatorOptions: Sendable {
    /// The status of an answer to making a feed: 201 or 200.
    public var feedCreatedStatus = 201
    /// The status of an answer to making a group.
    public var groupCreatedStatus = 201
    /// The status of an answer to making a dashboard.
    public var dashboardCreatedStatus = 201
    /// Whether the answer 429 has a JSON body; else it is the plain text that the service sent in 2016.
    public var throttleInJSON = true
    /// Whether the answer 429 says in a header when to come back.
    public var hasRetryAfter = true
    /// Whether a back-dated point becomes the feed's last value.
    public var backdatedBecomesLast = false
    /// Whether what a dashboard writes is delivered twice, as in 2015.
    public var doubleDashboardWrites = false

    /// What is most likely.
    public init() {}

    /// The answer to a request beyond the data rate.
    func throttled(seconds: Int) -> RESTError {
        var error = RESTError(
            429,
            "request failed - data rate limit reached, \(seconds) seconds until throttle released"
        )
        if hasRetryAfter { error.headers["Retry-After"] = String(seconds) }
        if !throttleInJSON { error.plainText = "Retry later\n" }
        return error
    }
}
