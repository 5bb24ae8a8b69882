public import Samples

/// How fast a file is replayed.
public enum ReplaySpeed: Sendable, Hashable {
    /// So many times its own pace; above 0.
    case times(Double)
    /// As fast as the receiver takes it; written `0` or `"max"`.
    case asFastAsPossible

    /// Its own pace.
    public static let ownPace = ReplaySpeed.times(1)

    /// A number of the configuration: 0 is as fast as possible; nil when it is negative or no number.
    public init?(_ number: Double) {
        guard number >= 0, number.isFinite else { return nil }
        self = number == 0 ? .asFastAsPossible : .times(number)
    }

    /// A word of the configuration: `max`; nil for any other.
    public init?(_ word: String) {
        guard word == "max" else { return nil }
        self = .asFastAsPossible
    }
}

/// What a `[[sampler]]` of `kind = "replay"` says.
public struct ReplayConfiguration: Sendable, Hashable {
    /// The stream that the file's rows become.
    public var stream: Name
    /// The file: a CSV with a header, plain or gzip.
    public var file: String
    /// How fast.
    public var speed: ReplaySpeed
    /// Whether samples keep the file's times. Otherwise all are shifted alike, so that the first one is now.
    public var keepTime: Bool

    /// Makes a configuration.
    public init(stream: Name, file: String, speed: ReplaySpeed = .ownPace, keepTime: Bool = false) {
        self.stream = stream
        self.file = file
        self.speed = speed
        self.keepTime = keepTime
    }
}
