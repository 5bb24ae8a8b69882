public import DataPoints

/// What a rule wants to publish.
public struct RuleDemand: Sendable, Hashable {
    /// The feed.
    public var feed: FeedKey
    /// How often the rule makes a point.
    public var interval: Duration
    /// How much it matters: a rule of weight 2 keeps twice the rate of one of weight 1 when all are slowed down.
    public var weight: Double

    /// Makes a demand.
    public init(feed: FeedKey, interval: Duration, weight: Double = 1) {
        self.feed = feed
        self.interval = interval
        self.weight = weight
    }
}

/// How the publisher behaves.
public struct PublisherSettings: Sendable, Hashable {
    /// What kind of service it talks to.
    public enum Profile: Sendable, Hashable {
        /// Adafruit IO: two links, a budget, confirmation by echo.
        case adafruitIO
        /// Any broker: MQTT alone, confirmation by PUBACK, at most so many messages under way.
        case plain(inFlight: Int, pointsPerMessage: Int)
    }

    /// What kind of service it talks to.
    public var profile = Profile.adafruitIO
    /// Data points a minute of the account; nil: 30 until the service has told (`plan = "auto"`).
    public var plan: Int?
    /// What part of the account's budget is ours.
    public var share = 1.0
    /// What the backlog gets of our part at least.
    public var backlogShare = 0.2
    /// MQTT down this long: REST takes over.
    public var fallbackAfter = Duration.seconds(30)
    /// A point may go by MQTT while it is younger: MQTT cannot tell its time.
    public var liveWithin = Duration.seconds(5)
    /// A point that was stored shows within this time.
    public var settle = Duration.seconds(10)
    /// What the rules want; one entry a feed that rules publish to.
    public var rules: [RuleDemand] = []
    /// Feeds whose values are told as events, whoever wrote them.
    public var followed: [FeedKey] = []
    /// Feeds that keep only their last value: what is lost there cannot be looked up.
    public var feedsWithoutHistory: Set<FeedKey> = []

    /// The most points in one request.
    public var largestBatch = 100
    /// The most REST requests under way.
    public var mostRequests = 4
    /// The most points of a feed that are asked from the outbox at once.
    public var page = 100
    /// Up to so many feeds are subscribed one by one; above that all at once, by one filter.
    public var mostEchoFilters = 20
    /// MQTT takes over again once it has been up so long.
    public var steadyAfter = Duration.seconds(10)

    /// The settings of the contract, for no rules.
    public init() {}

    var isPlain: Bool { profile != .adafruitIO }
}
