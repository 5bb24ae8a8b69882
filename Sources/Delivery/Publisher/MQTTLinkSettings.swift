internal import AdafruitIO
public import DataPoints
public import MQTT

/// What an `MQTTLink` needs to know.
public struct MQTTLinkSettings: Sendable {
    /// How to connect.
    public var connection: MQTTConfiguration
    /// The account's name, the first part of every topic.
    public var username: String
    /// The feed that says whether to record.
    public var controlFeed: FeedKey
    /// How many data points a minute may be sent.
    public var pointsPerMinute: Int
    /// A point older than this is not sent: MQTT cannot say when it was measured.
    public var liveWithin: Duration

    /// Makes settings.
    public init(
        connection: MQTTConfiguration,
        username: String,
        controlFeed: FeedKey,
        pointsPerMinute: Int,
        liveWithin: Duration = .seconds(5)
    ) {
        self.connection = connection
        self.username = username
        self.controlFeed = controlFeed
        self.pointsPerMinute = pointsPerMinute
        self.liveWithin = liveWithin
    }

    /// The topic of a feed of the account.
    func topic(_ feed: FeedKey) -> String {
        AdafruitIOTopic.feed(feed.text, of: username).text
    }

    /// Whether a connection made with `other` serves these settings too.
    func isSameConnection(as other: MQTTLinkSettings) -> Bool {
        connection.host == other.connection.host && connection.port == other.connection.port
            && connection.password == other.connection.password && connection.username == other.connection.username
            && connection.clientID == other.connection.clientID
            && connection.tls?.caFile == other.connection.tls?.caFile
            && (connection.tls == nil) == (other.connection.tls == nil)
            && username == other.username && controlFeed == other.controlFeed
    }
}
