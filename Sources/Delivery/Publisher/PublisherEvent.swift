public import DataPoints
public import Diagnostics

/// A way to the service.
public enum PublisherLink: String, Sendable, Hashable {
    /// MQTT.
    case mqtt
    /// REST.
    case rest
}

/// What the publisher subscribes to.
public enum PublisherFilter: Sendable, Hashable {
    /// The control feed (on a plain broker: the switch's topic).
    case control
    /// The service's `errors` topic.
    case errors
    /// The service's `throttle` topic.
    case throttle
    /// One feed, by its exact topic.
    case feed(FeedKey)
    /// All feeds of the account by one filter; the driver drops what is not in `PublisherSettings.rules`.
    case allFeeds
}

/// What happens on an MQTT connection.
public enum MQTTHappening: Sendable, Hashable {
    /// CONNACK 0.
    case connected
    /// The attempt failed or the connection ended, for whatever reason; comes exactly once for each `connect`.
    case ended(ReconnectPolicy.Ending)
    /// SUBACK: granted. Handlers are there before the SUBSCRIBE leaves.
    case subscribed(PublisherFilter)
    /// SUBACK: refused, or the service's `errors` topic said so.
    case subscribeFailed(PublisherFilter)
    /// PUBACK for the message of that number.
    case acknowledged(message: Int)
    /// PUBACK for all these messages.
    case acknowledgedAll([Int])
    /// These messages of a plain broker did not leave this machine, and never will.
    case notSent([Int])
    /// A value came on a subscribed feed of ours, the control feed included; exactly as it came, not as it was sent.
    case echoed(FeedKey, String)
    /// The `errors` topic rejected a publish; to that feed if it says so.
    case rejected(FeedKey?)
    /// The `throttle` topic: nothing is taken for so long.
    case throttled(Duration)
    /// The `errors` topic: the account is banned for so long (60 s where it only says "temporarily blocked").
    case banned(Duration)
}

/// Something that the bridge wants to do besides publishing the outbox. It asks before; it is never queued.
public struct OwnRequest: Sendable, Hashable {
    /// What is wanted.
    public enum Kind: Sendable, Hashable {
        /// Write a value to the control or the status feed.
        case write(FeedKey, String)
        /// Create, change or delete so many feeds, groups or dashboards by REST.
        case administer(Int)
        /// Read something by REST, such as the control feed's last value.
        case read
    }

    /// A number of the asker's, for the answer.
    public var id: Int
    /// What is wanted.
    public var kind: Kind

    /// Makes a request.
    public init(id: Int, _ kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

/// What can happen to the publisher.
public enum PublisherEvent: Sendable, Hashable {
    /// The program runs: how many points of each feed the outbox has to send, and the newest id. Once, before all others.
    case start(waiting: [FeedKey: Int], newest: Int = 0)
    /// The settings changed. What is under way goes on.
    case configuration(PublisherSettings)
    /// The key, its file, or what a connection is made with changed: refusals are forgotten, MQTT is connected anew.
    case keyChanged
    /// Something happened on the MQTT connection of that number; old connections are ignored.
    case mqtt(connection: Int, MQTTHappening)
    /// The answer to the REST request of that number; exactly one comes for each request.
    case answered(request: Int, RESTOutcome)
    /// The answer to a REST request that was granted to the bridge. `.stored` stands for any 2xx.
    case ownAnswered(RESTOutcome)
    /// The `Date` header of any answer.
    case serviceTime(Timestamp)
    /// Points were committed in the outbox just now; for each feed in the order of their ids, each once, and before any
    /// page that holds them. None of them was counted by `start`.
    case accepted([PublisherPoint])
    /// So many more points of the feed were committed; they come with pages. None of them was counted before.
    case more(FeedKey, count: Int)
    /// The answer to `requestPage`: the feed's waiting points in the order of their ids, and whether there are more.
    case page(FeedKey, [PublisherPoint], hasMore: Bool)
    /// Points of these feeds left the outbox without our doing, or came back to it.
    case changed([FeedKey])
    /// The answer to `count`: how many points the outbox has to send, and which of those asked about it has no more.
    case counted(FeedKey, waiting: Int, gone: [Int])
    /// These points, which a `publish` or `post` was to carry, have left the outbox: that carries the others alone. With
    /// none left it was not done, and no other answer comes.
    case gone(FeedKey, [Int])
    /// The feed exists now, or there is room for it.
    case feedReady(FeedKey)
    /// The feed may not exist: nothing is sent to it before `feedReady`, so that MQTT never creates it.
    case feedUnknown(FeedKey)
    /// The bridge wants to do something of its own.
    case ask(OwnRequest)
    /// `PublisherStateMachine.deadline` has come.
    case tick
}
