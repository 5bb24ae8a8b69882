internal import AdafruitIO
internal import FastJSON

/// An account and what its plan allows.
public struct AdafruitIOUser: Sendable, Hashable {
    /// The account's name.
    public var username: String
    /// Its number.
    public var id: Int?
    /// Its zone: `Europe/Madrid`.
    public var timeZone: String?
    /// What the plan allows, where the service says so.
    public var limits: Limits?

    /// What a plan allows.
    public struct Limits: Sendable, Hashable {
        /// Data points a minute.
        public var pointsPerMinute: Int?
        /// The most feeds.
        public var feeds: Int?
        /// The most groups.
        public var groups: Int?
        /// The most dashboards.
        public var dashboards: Int?
        /// How long data points are kept.
        public var retention: Duration?
    }

    /// The service's record is nested; its documentation shows it flat. Both are read.
    init?(_ json: JSON) {
        let record = json["user"]?.object != nil ? json["user"] ?? json : json
        guard let username = record.text("username") ?? record.text("name") else { return nil }
        self.username = username
        id = record.whole("id")
        timeZone = record.text("time_zone")
        guard let limits = record["subscription"]?["limits"], limits.object != nil else { return }
        self.limits = Limits(
            pointsPerMinute: limits.whole("data_rate"),
            feeds: limits.whole("feeds"),
            groups: limits.whole("groups"),
            dashboards: limits.whole("dashboards"),
            retention: limits.whole("data_ttl").map { .seconds($0) }
        )
    }
}

/// How much of its limits an account has used in the last minute.
public struct AdafruitIOThrottle: Sendable, Hashable {
    /// Data points a minute that are allowed.
    public var pointsPerMinute: Int
    /// Data points of the last minute, of all devices together.
    public var points: Int
    /// Log-ins of the last minute.
    public var logins: Int?
    /// SUBSCRIBE requests of the last minute.
    public var subscribes: Int?
    /// PUBLISH requests of the last minute.
    public var publishes: Int?
    /// Bans of the last hour.
    public var bans: Int?
    /// Why MQTT is banned now; nil when it is not.
    public var banMessage: String?

    init?(_ json: JSON) {
        guard let limit = json.whole("data_rate_limit"), let points = json.whole("active_data_rate") else { return nil }
        pointsPerMinute = limit
        self.points = points
        logins = json.whole("authentication_rate")
        subscribes = json.whole("subscribe_authorization_rate")
        publishes = json.whole("publish_authorization_rate")
        bans = json.whole("hourly_ban_rate")
        banMessage = json.text("mqtt_ban_error_message")
    }

    /// How long the ban in `banMessage` lasts, where it says so.
    public var banWait: Duration? { banMessage.flatMap { ServiceMessage($0).wait } }
}

extension AdafruitIOClient {
    /// The account that the key belongs to.
    public func user() async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOUser> {
        let response = try await sendAnywhere("GET", ["user"])
        return try understand(response, "GET user") { AdafruitIOUser($0) }
    }

    /// How much of its limits the account has used; costs none of them.
    public func throttle() async throws(AdafruitIOClientError) -> AdafruitIOReply<AdafruitIOThrottle> {
        try await ask("GET", ["throttle"]) { AdafruitIOThrottle($0) }
    }
}
