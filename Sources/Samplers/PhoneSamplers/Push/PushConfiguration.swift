public import Samples

/// What becomes of samples that come while the switch is off.
public enum WhenOff: String, Sendable, Hashable, CaseIterable {
    /// They go into the always store.
    case keep
    /// They are thrown away, and the sender is told that all is well.
    case discard
    /// They are refused, so that the sender keeps them: 503 with Retry-After.
    case refuse
}

/// What a `[[sampler]]` says whose source sends by itself: an app, or a device on the local broker.
public struct PushConfiguration: Sendable, Hashable {
    /// The apps and their own settings.
    public enum App: Sendable, Hashable {
        /// Sensor Logger for iOS and Android.
        case sensorLogger(PhonePlatform, PhoneStandard)
        /// OwnTracks for iOS and Android: how often it is asked for its steps, if at all, and where the secret of its
        /// encrypted messages is.
        case ownTracks(stepsEvery: Duration?, secretFile: String?)
        /// Overland for iOS.
        case overland
        /// Anything that can post JSON.
        case json(JSONMapping)
        /// Any device on the local broker.
        case mqtt(DeviceShape)

        /// The `kind` of the sampler.
        public var kind: String {
            switch self {
            case .sensorLogger: "sensor-logger"
            case .ownTracks: "owntracks"
            case .overland: "overland"
            case .json: "json"
            case .mqtt: "mqtt"
            }
        }
    }

    /// The app.
    public var app: App
    /// The device's name: the end of its address, `/in/owntracks/ada`, and of its streams, `location.ada`.
    ///
    /// For JSON it is the end of the address alone. Nil takes what no other sampler of the app takes.
    public var name: Name?
    /// What becomes of samples while the switch is off.
    public var whenOff: WhenOff
    /// The topics of the local broker that it reads.
    public var topics: [String]

    /// Makes a configuration.
    public init(
        _ app: App,
        name: Name? = nil,
        whenOff: WhenOff = .keep,
        topics: [String] = []
    ) {
        self.app = app
        self.name = name
        self.whenOff = whenOff
        self.topics = topics
    }
}
