public import BusSamplers
public import Control
public import DataPoints
public import Feeds
public import IIOSamplers
public import ImageSamplers
public import Outbox
public import PhoneSamplers
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
    /// `[broker]`, if it is there.
    public var homeBroker: HomeBroker?
    /// `[[forward]]`, in order.
    public var forwards: [Forward]
    /// `[[sampler]]`, in order.
    public var samplers: [Sampler]
    /// What is computed from the samples.
    public var derivations: [Derived]
    /// What is to be noticed in them.
    public var alerting: Alerting
    /// `[[rule]]`, in order.
    public var rules: [Rule]

    /// The Adafruit IO account, or the plain broker.
    public struct Account: Sendable, Equatable {
        /// What kind of service it is.
        public enum Profile: String, Sendable, CaseIterable {
            /// Adafruit IO, or its simulator.
            case adafruitIO = "adafruit-io"
            /// Any broker.
            case mqtt
        }

        /// How many data points a minute the account has.
        public enum Plan: Sendable, Hashable {
            /// Ask the service; a plain broker has no limit.
            case auto
            /// That many points a minute.
            case pointsPerMinute(Int)
        }

        /// What kind of service it is.
        public var profile = Profile.adafruitIO
        /// The account's name; empty for a broker without log-in.
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
        /// What only a plain broker has.
        public var broker = Broker()

        /// Whether it is any broker, and not Adafruit IO.
        public var isPlain: Bool { profile == .mqtt }
    }

    /// What only a plain broker has.
    public struct Broker: Sendable, Equatable {
        /// The topics of feeds, with `{name}` and `{feed}`.
        public var topic = "{name}/{feed}"
        /// The most data points in one message.
        public var pointsPerMessage = 1
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
        /// On a plain broker the topic instead of that of `feed`; nil: as the template says.
        public var topic: String?
        /// On a plain broker the topic instead of that of `statusFeed`; nil: as the template says.
        public var statusTopic: String?
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
        /// The file with the token that apps must show; nil: `http-token` in the state folder.
        public var tokenFile: String?
        /// The certificate for HTTPS, a PEM file; nil: plain HTTP.
        public var certificate: String?
        /// The certificate's key, a PEM file; nil: it stands in the certificate's file.
        public var certificateKey: String?
        /// Names of this machine that clients may use, beside its own.
        public var names: [String] = []
    }

    /// The local broker.
    public struct HomeBroker: Sendable, Equatable {
        /// Where it is: `mqtt://` or `mqtts://`.
        public var url: Endpoint
        /// The account there, if it asks for one.
        public var username: String?
        /// The file with the account's password.
        public var passwordFile: String?
        /// Certificate authorities to trust instead of the system's.
        public var caFile: String?
    }

    /// A dashboard control that reaches a device.
    public struct Forward: Sendable, Equatable {
        /// Where it stands in the file.
        public var position: Position
        /// The feed that the control writes.
        public var feed: FeedKey
        /// The topic on the local broker.
        public var topic: String
        /// What is published there.
        public var template: ForwardTemplate
        /// Whether the broker keeps it for a device that comes later.
        public var retain: Bool
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
            /// Sensors of Industrial I/O.
            case iio(IIOConfiguration)
            /// The brightness of pictures.
            case image(ImageConfiguration)
            /// A file.
            case replay(ReplayConfiguration)
            /// An app or a device that sends by itself; it is not stopped with the switch, see `when_off`.
            case push(PushConfiguration)
            /// Heart-rate straps, beacons and thermometers over Bluetooth.
            case bluetooth(BluetoothConfiguration)
            /// Sensors of iio-sensor-proxy, by their names.
            case sensorProxy([String])
            /// A phone with phyphox, which is asked.
            case phyphox(PhyphoxConfiguration)

            /// Whether the source sends by itself.
            var isPush: Bool {
                if case .push = self { true } else { false }
            }
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
