/// What an account may do.
public enum AdafruitIOPlan: Sendable, Hashable {
    /// The plan that costs nothing.
    case free
    /// IO+.
    case plus
    /// IO+ with another number of data points a minute (Boost).
    case custom(pointsPerMinute: Int)

    /// Reads `free`, `plus` or a number of data points a minute.
    public init?(_ text: String) {
        switch text {
        case "free": self = .free
        case "plus": self = .plus
        default:
            guard let rate = Int(text), (1...1_000_000).contains(rate) else { return nil }
            self = .custom(pointsPerMinute: rate)
        }
    }

    /// Data points in a minute, MQTT and REST together.
    public var pointsPerMinute: Int {
        switch self {
        case .free: 30
        case .plus: 60
        case .custom(let rate): rate
        }
    }

    /// The most feeds; nil when there is no limit.
    public var feeds: Int? { self == .free ? 10 : nil }

    /// The most groups; nil when there is no limit.
    public var groups: Int? { self == .free ? 5 : nil }

    /// The most dashboards; nil when there is no limit.
    public var dashboards: Int? { self == .free ? 5 : nil }

    /// How long data points are kept.
    public var retention: Duration { .seconds((self == .free ? 30 : 60) * 86_400) }
}

extension AdafruitIOPlan: CustomStringConvertible {
    /// As it is written in settings.
    public var description: String {
        switch self {
        case .free: "free"
        case .plus: "plus"
        case .custom(let rate): String(rate)
        }
    }
}

/// Limits that every plan has, per account and minute.
public enum AccountLimits {
    /// SUBSCRIBE requests.
    public static let subscribes = 100
    /// SUBSCRIBE requests that were rejected.
    public static let failedSubscribes = 10
    /// PUBLISH requests that were rejected.
    public static let failedPublishes = 10
    /// Attempts to log in.
    public static let logins = 20
    /// The span that all rates are counted over; it rolls.
    public static let window = Duration.seconds(60)
    /// A ban lasts this long times the number of bans in the last hour.
    public static let banStep = Duration.seconds(30)
    /// The longest ban.
    public static let longestBan = Duration.seconds(3600)
}
