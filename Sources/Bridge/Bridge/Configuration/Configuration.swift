public import DataPoints
public import Samples
internal import TOML

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
    /// `[recorder]`.
    public var recorder: Recorder
    /// `[http]`.
    public var http: HTTP
    /// `[[sampler]]`, in order.
    public var samplers: [Sampler]
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
    }

    /// The remote control.
    public struct Switch: Sendable, Equatable {
        /// What the switch is when the bridge starts.
        public enum OnStart: String, Sendable, CaseIterable {
            /// As it was left, until the feed has been read.
            case follow
            /// On.
            case on
            /// Off.
            case off
        }

        /// The feed that says what is wanted.
        public var feed: FeedKey
        /// The feed that says what is done.
        public var statusFeed: FeedKey
        /// What holds at start.
        public var onStart: OnStart
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
            case replay(stream: Name?, file: String, speed: Double, keepTime: Bool)
        }
    }

    /// One rule: what is published.
    public struct Rule: Sendable, Equatable {
        /// Where it stands in the file.
        public var position: Position
        /// Where its keys' values stand.
        public var keys: [String: Position]
        /// The feed.
        public var feed: FeedKey
        /// What is published.
        public var source: Source
        /// How a window is reduced to one value.
        public var reduce: String
        /// The length of a window.
        public var every: Duration
        /// How much a value must differ from the last published one.
        public var deadBand: Double?
        /// Whether only changes are published.
        public var onChange: Bool
        /// Digits after the point.
        public var precision: Int?
        /// Its part of a budget that is too small.
        public var weight: Double
        /// Whether it runs while the switch is off.
        public var always: Bool
        /// The stream whose position is attached.
        public var location: Name?

        /// What a rule publishes.
        public enum Source: Sendable, Hashable {
            /// One field.
            case field(stream: Name, field: Name)
            /// Several fields in one JSON value, each as `stream.field`.
            case composite([(stream: Name, field: Name)])

            /// Whether they name the same fields.
            public static func == (left: Source, right: Source) -> Bool {
                left.fields.elementsEqual(right.fields) { $0 == $1 } && left.isComposite == right.isComposite
            }

            /// Hashes the fields.
            public func hash(into hasher: inout Hasher) {
                for (stream, field) in fields {
                    hasher.combine(stream)
                    hasher.combine(field)
                }
            }

            /// Every field it needs.
            public var fields: [(stream: Name, field: Name)] {
                switch self {
                case .field(let stream, let field): [(stream, field)]
                case .composite(let fields): fields
                }
            }

            private var isComposite: Bool {
                if case .composite = self { true } else { false }
            }
        }
    }

    /// A place in the file.
    public struct Position: Sendable, Hashable {
        /// The line, from 1.
        public var line: Int
        /// The column, from 1.
        public var column: Int
    }
}
