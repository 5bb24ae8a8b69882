internal import FastJSON

/// What happened on one account since the start.
public struct AccountCounters: Sendable, Hashable {
    /// Attempts to log in over MQTT.
    public var logins = 0
    /// Of these, refused ones.
    public var refusedLogins = 0
    /// Topic filters asked for.
    public var subscribes = 0
    /// Of these, refused ones.
    public var failedSubscribes = 0
    /// PUBLISH packets.
    public var publishes = 0
    /// Of these, refused ones; those over the data rate are not among them.
    public var failedPublishes = 0
    /// Data points stored, whatever way they came.
    public var points = 0
    /// Data points refused for the data rate or a ban.
    public var rejected = 0
    /// Bans.
    public var bans = 0
    /// Requests of the REST interface.
    public var restRequests = 0

    /// The counters as the control port shows them.
    var json: JSON {
        [
            "logins": JSON(logins), "refused_logins": JSON(refusedLogins), "subscribes": JSON(subscribes),
            "failed_subscribes": JSON(failedSubscribes), "publishes": JSON(publishes),
            "failed_publishes": JSON(failedPublishes), "points": JSON(points), "rejected": JSON(rejected),
            "bans": JSON(bans), "rest_requests": JSON(restRequests),
        ]
    }
}
