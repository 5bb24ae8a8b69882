internal import AdafruitIO
public import AdafruitIOClient
public import DataPoints
public import MQTT

/// What a driver reaches the account with.
public struct PublisherAccess: Sendable {
    /// How to connect over MQTT.
    public var connection: MQTTConfiguration
    /// The account's name, the first part of every topic.
    public var username: String
    /// The feed that says whether to record.
    public var controlFeed: FeedKey
    /// The account over REST.
    public var client: AdafruitIOClient

    /// Makes access.
    public init(connection: MQTTConfiguration, username: String, controlFeed: FeedKey, client: AdafruitIOClient) {
        self.connection = connection
        self.username = username
        self.controlFeed = controlFeed
        self.client = client
    }

    /// The topic of a feed.
    func topic(_ feed: FeedKey) -> String {
        AdafruitIOTopic.feed(feed.text, of: username).text
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
