internal import AdafruitIO
public import AdafruitIOClient
public import DataPoints
public import MQTT

/// What a driver reaches the account, or the broker, with.
public struct PublisherAccess: Sendable {
    /// How to connect over MQTT.
    public var connection: MQTTConfiguration
    /// The account's name, the first part of every topic of Adafruit IO.
    public var username: String
    /// The feed that says whether to record.
    public var controlFeed: FeedKey
    /// The account over REST; nil where there is none.
    public var client: AdafruitIOClient?
    /// Where things are on a plain broker; nil for Adafruit IO.
    public var broker: PlainBroker?

    /// Makes access to an account of Adafruit IO.
    public init(connection: MQTTConfiguration, username: String, controlFeed: FeedKey, client: AdafruitIOClient) {
        self.connection = connection
        self.username = username
        self.controlFeed = controlFeed
        self.client = client
    }

    /// Makes access to a plain broker; its will, if `connection` has none, says `offline` on the status topic.
    public init(connection: MQTTConfiguration, broker: PlainBroker) {
        self.connection = connection
        self.connection.will = connection.will ?? MQTTWill(topic: broker.statusTopic, payload: PlainBroker.offline)
        username = ""
        controlFeed = broker.controlFeed
        self.broker = broker
    }

    /// The topic of a feed.
    func topic(_ feed: FeedKey) -> String {
        broker?.topic(feed) ?? AdafruitIOTopic.feed(feed.text, of: username).text
    }

    /// The topic filter of a subscription.
    func filter(_ filter: PublisherFilter) -> String {
        switch filter {
        case .control: topic(controlFeed)
        case .errors: AdafruitIOTopic.errors(user: username).text
        case .throttle: AdafruitIOTopic.throttle(user: username).text
        case .feed(let feed): topic(feed)
        case .allFeeds: "\(username)/f/+"
        }
    }

    /// The feed of a topic of ours.
    func feed(of topic: String) -> FeedKey? {
        guard case .feed(let resource)? = AdafruitIOTopic(topic), resource.user == username else { return nil }
        return FeedKey(resource.identifier)
    }
}
