internal import HTTPServer

/// What is not known of the service, so that it can be set.
public struct SimulatorOptions: Sendable {
    /// What becomes of a QoS 2 message.
    public enum QoS2: String, Sendable, CaseIterable {
        /// The connection is closed.
        case disconnect
        /// Nothing happens: no answer, no point.
        case drop
        /// The handshake of QoS 2 is done and the message taken.
        case accept
    }

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
    /// Whether a back-dated point is sent to MQTT subscribers.
    public var backdatedIsSent = true
    /// Whether what a dashboard writes is delivered twice, as in 2015.
    public var doubleDashboardWrites = false
    /// The CONNACK code for a wrong key: 4 or 5.
    public var wrongKeyCode: UInt8 = 5
    /// Whether messages on `errors` and `throttle` stand in double quotes.
    public var quotesMessages = true
    /// Whether a ban closes the account's connections.
    public var banDisconnects = false
    /// Whether a log-in beyond the limit brings a ban (CONNACK 7); else CONNACK 6.
    public var loginLimitBans = true
    /// Refused points in a minute that bring a ban; nil is the plan's rate.
    public var enforcementLimit: Int?
    /// What becomes of a QoS 2 message.
    public var qos2 = QoS2.disconnect
    /// Seconds between the loss of a connection and its will.
    public var willDelay = 300
    /// The longest keep-alive in seconds that is respected; 0 is no limit.
    public var keepAliveCap = 0
    /// Whether `/get` on a feed without a value is answered with an empty message.
    public var answersEmptyGet = false
    /// Whether `/get` costs a data point of the rate.
    public var getCosts = false
    /// Whether a message to a feed of a missing group makes the group.
    public var createsGroups = false
    /// Whether `/json` carries key, time and more; else value and place alone.
    public var fullJSON = true

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
