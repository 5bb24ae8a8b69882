public import DataPoints

/// Where things are on a plain broker.
public struct PlainBroker: Sendable, Hashable {
    /// Where data points go.
    public var topics: TopicTemplate
    /// The topic whose retained message says whether to record.
    public var switchTopic: String
    /// The topic whose retained message says what is done.
    public var statusTopic: String
    /// The feed that stands for `switchTopic`.
    public var controlFeed: FeedKey
    /// The feed that stands for `statusTopic`.
    public var statusFeed: FeedKey

    /// What the status topic says when the bridge is not there.
    public static let offline = Array("offline".utf8)

    /// Makes a description.
    public init(
        topics: TopicTemplate,
        switchTopic: String,
        statusTopic: String,
        controlFeed: FeedKey,
        statusFeed: FeedKey
    ) {
        self.topics = topics
        self.switchTopic = switchTopic
        self.statusTopic = statusTopic
        self.controlFeed = controlFeed
        self.statusFeed = statusFeed
    }

    /// The topic of a feed; the switch and its status have their own.
    public func topic(_ feed: FeedKey) -> String {
        feed == controlFeed ? switchTopic : feed == statusFeed ? statusTopic : topics.topic(of: feed)
    }
}
