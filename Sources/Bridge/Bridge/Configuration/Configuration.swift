public import Control
public import DataPoints
public import Feeds
public import Outbox
public import ReplaySamplers

/// What `feedbridge.toml` says, checked. It touches no device, no file but its own, and no network.
public struct Configuration: Sendable, Equatable {
    /// The file, as it was named.
    public var file: String
    /// The bridge's name; part of the MQTT client id.
    public var name: String
    /// The folder for the state, if it was given.
    public var state: String?
    /// `[account]`.
    public var account: Account
    /// `[switch]`.
    public var control: Switch
    /// `[outbox]`.
    public var outbox: OutboxSettings
    /// `[recorder]`.
    public var recorder: Recorder
    /// `[http]`.
    public var http: HTTP
    /// `[[sampler]]`, in order.
    public var samplers: [Sampler]
    /// What is computed from the samples.
    public var derivations: [Derived]
    /// What is to be noticed in them.
    public var alerting: Alerting
    /// `[[rule]]`, in order.
    public var rules: [Rule]

    /// The Adafruit IO account.
    public struct Account: Sendable, Equatable {
        /// How many data points a minute the account has.
        public enum Plan: Sendable, Hashable {
            /// Ask the service.
            case auto
            /// That many points a minute.
            case pointsPerMinute(Int)
        }

        /// The account's name.
        public var username: String
        /// The file with the key, when it is given.
        public var keyFile: String?
        /// The plan.
        public var plan: Plan
        /// The MQTT broker.
        public var mqtt: Endpoint
        /// The REST service.
        public var rest: Endpoint
        /// Certificate authorities to use instead of the system's.
        public var caFile: String?
        /// Whether unencrypted connections beyond this machine are allowed.
        public var insecurePlaintext: Bool
        /// How data points are delivered.
        public var delivery: Delivery
    }

    /// How data points are delivered.
    public struct Delivery: Sendable, Equatable {
        /// What part of the account's budget is ours.
        public var share = 1.0
        /// MQTT down this long: REST takes over.
        public var fallbackAfter = Duration.seconds(30)
        /// How often the switch is read over REST.
        public var pollEvery = Duration.seconds(10)
        /// A point may go by MQTT while it is younger.
        public var liveWithin = Duration.seconds(5)
        /// A point that was stored shows within this time.
        public var settle = Duration.seconds(10)
        /// What the backlog gets of the budget at least.
        public var backlogShare = 0.2
    }

    /// The remote control.
    public struct Switch: Sendable, Equatable {
        /// The feed that says what is wanted.
        public var feed: FeedKey
        /// The feed that says what is done.
        public var statusFeed: FeedKey
        /// What the switch is when the bridge starts.
        public var onStart: SwitchSettings.OnStart
        /// Whether the bridge writes to the control feed when it changes by itself.
        public var writeBack: Bool
        /// More words for on.
        public var onWords: [String]
        /// More words for off.
        public var offWords: [String]
    }

    /// Limits of recording.
    public struct Recorder: Sendable, Equatable {
        /// A session that has lasted so long is stopped.
        public var longestSession: Duration
        /// With less free space than this, in bytes, nothing is recorded.
        public var smallestFree: Int
    }

    /// The TCP server.
    public struct HTTP: Sendable, Equatable {
        /// Where it listens; nil: nowhere.
        public var listen: ListenAddress?
    }

    /// An address and a port to listen on.
    public struct ListenAddress: Sendable, Hashable {
        /// A numeric address.
        public var host: String
        /// The port; 0 picks a free one.
        public var port: Int
    }

    /// One source of samples.
    public struct Sampler: Sendable, Equatable {
        /// Where it stands in the file.
        public var position: Position
        /// Whether it runs while the switch is off.
        public var always: Bool
        /// What it is.
        public var kind: Kind

        /// The kinds of samplers and their settings.
        public enum Kind: Sendable, Hashable {
            /// This machine.
            case host(every: Duration)
            /// A file.
            case replay(ReplayConfiguration)
        }
    }

    /// One rule, and where it stands in the file.
    public struct Rule: Sendable, Equatable {
        /// Where the table stands.
        public var position: Position
        /// Where its keys' values stand.
        public var keys: [String: Position]
        /// What is published.
        public var rule: Feeds.Rule
    }

    /// A place in the file.
    public struct Position: Sendable, Hashable {
        /// The line, from 1.
        public var line: Int
        /// The column, from 1.
        public var column: Int
    }
}
