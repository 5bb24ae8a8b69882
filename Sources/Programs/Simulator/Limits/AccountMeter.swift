internal import AdafruitIO
internal import Diagnostics

/// The rates of one account and what follows from them: throttles and bans. Pure: times come in with each call.
struct AccountMeter {
    /// What becomes of data points, or of a request.
    enum Verdict: Hashable {
        /// Taken.
        case taken
        /// Not taken; the rate is over its limit for so long.
        case throttled(seconds: Int)
        /// Not taken; the account is banned for so long. `isNew` when this very request brought the ban.
        case banned(seconds: Int, isNew: Bool)
    }

    /// What becomes of a SUBSCRIBE.
    enum SubscribeVerdict: Hashable {
        /// Taken; so many are left when that is to be warned about.
        case taken(warning: Int?)
        /// Not taken.
        case tooMany
        /// Not taken: the account is banned.
        case banned
    }

    /// From how many attempts left on a SUBSCRIBE brings a warning.
    static let warningFrom = 10

    let plan: AdafruitIOPlan
    /// Rejected points in a minute that bring a ban.
    let enforcementLimit: Int
    private var points = RollingCount()
    private var rejected = RollingCount()
    private var logins = RollingCount()
    private var subscribes = RollingCount()
    private var failedSubscribes = RollingCount()
    private var failedPublishes = RollingCount()
    private var bans: [BootInstant] = []
    private var bannedUntil: BootInstant?
    private var throttledUntil: BootInstant?
    /// Points refused since the throttle began.
    private var debt = 0

    init(plan: AdafruitIOPlan, enforcementLimit: Int? = nil) {
        self.plan = plan
        self.enforcementLimit = enforcementLimit ?? plan.pointsPerMinute
    }

    /// Whether and how long the account is banned.
    func banLeft(at now: BootInstant) -> Int? {
        guard let bannedUntil, bannedUntil > now else { return nil }
        return now.duration(to: bannedUntil).roundedUpToSeconds
    }

    /// Takes `amount` data points, all or none.
    ///
    /// The window rolls. Once over the limit, the account is throttled until there is room; each further point while
    /// throttled adds to the wait as if it needed room too, so who keeps publishing above the rate stays throttled for
    /// ever, and who waits as long as was said gets through.
    mutating func takePoints(_ amount: Int, at now: BootInstant) -> Verdict {
        if let left = banLeft(at: now) { return .banned(seconds: left, isNew: false) }
        let limit = plan.pointsPerMinute
        if throttledUntil.map({ $0 <= now }) ?? true {
            throttledUntil = nil
            debt = 0
            if points.count(at: now) + amount <= limit {
                points.add(amount, at: now)
                return .taken
            }
        }
        debt += amount
        rejected.add(amount, at: now)
        if rejected.count(at: now) > enforcementLimit { return .banned(seconds: ban(at: now), isNew: true) }
        var wait = points.wait(until: max(limit - debt, 0), at: now)
        if debt > limit { wait += AccountLimits.window * (debt - limit) / limit }
        let until = max(now.advanced(by: wait), throttledUntil ?? now)
        throttledUntil = until
        return .throttled(seconds: max(now.duration(to: until).roundedUpToSeconds, 1))
    }

    /// Counts what costs rate but is not refused for it.
    mutating func notePoints(_ amount: Int, at now: BootInstant) {
        points.add(amount, at: now)
    }

    /// Counts an attempt to log in. The one beyond the limit is throttled, or banned when `bans`.
    mutating func login(at now: BootInstant, bans: Bool) -> Verdict {
        if let left = banLeft(at: now) { return .banned(seconds: left, isNew: false) }
        logins.add(at: now)
        guard logins.count(at: now) > AccountLimits.logins else { return .taken }
        guard bans else {
            return .throttled(seconds: logins.wait(until: AccountLimits.logins, at: now).roundedUpToSeconds)
        }
        return .banned(seconds: ban(at: now), isNew: true)
    }

    /// Counts a SUBSCRIBE request.
    mutating func subscribe(at now: BootInstant) -> SubscribeVerdict {
        guard banLeft(at: now) == nil else { return .banned }
        subscribes.add(at: now)
        let left = AccountLimits.subscribes - subscribes.count(at: now)
        guard left >= 0 else { return .tooMany }
        return .taken(warning: left <= Self.warningFrom ? left : nil)
    }

    /// Counts a SUBSCRIBE that was rejected; the seconds of the ban that it brought, if any.
    mutating func failedSubscribe(at now: BootInstant) -> Int? {
        failedSubscribes.add(at: now)
        return banIf(failedSubscribes.count(at: now) >= AccountLimits.failedSubscribes, at: now)
    }

    /// Counts a PUBLISH that was rejected; the seconds of the ban that it brought, if any.
    mutating func failedPublish(at now: BootInstant) -> Int? {
        failedPublishes.add(at: now)
        return banIf(failedPublishes.count(at: now) >= AccountLimits.failedPublishes, at: now)
    }

    /// Bans the account for `seconds`, whatever its rates are.
    mutating func forceBan(seconds: Int, at now: BootInstant) {
        bans.append(now)
        bannedUntil = now.advanced(by: .seconds(seconds))
    }

    /// Throttles data for `seconds`, whatever the rate is.
    mutating func forceThrottle(seconds: Int, at now: BootInstant) {
        throttledUntil = now.advanced(by: .seconds(seconds))
    }

    /// Ends what was forced, and any ban.
    mutating func release() {
        bannedUntil = nil
        throttledUntil = nil
        debt = 0
    }

    /// The rates as `GET /throttle` shows them.
    mutating func rates(at now: BootInstant) -> AccountRates {
        forgetBans(now)
        return AccountRates(
            data: points.count(at: now),
            logins: logins.count(at: now),
            subscribes: subscribes.count(at: now),
            publishes: failedPublishes.count(at: now),
            bans: bans.count,
            banMessage: banLeft(at: now).map { ServiceTexts.banned(seconds: $0) }
        )
    }

    private mutating func banIf(_ isOver: Bool, at now: BootInstant) -> Int? {
        guard isOver, banLeft(at: now) == nil else { return nil }
        return ban(at: now)
    }

    /// 30 seconds times the number of bans in the last hour, at most an hour. What led to it is forgotten, so that the
    /// account starts anew when it ends.
    private mutating func ban(at now: BootInstant) -> Int {
        forgetBans(now)
        bans.append(now)
        let length = min(AccountLimits.banStep * bans.count, AccountLimits.longestBan)
        bannedUntil = now.advanced(by: length)
        rejected = RollingCount()
        failedPublishes = RollingCount()
        failedSubscribes = RollingCount()
        logins = RollingCount()
        return length.roundedUpToSeconds
    }

    private mutating func forgetBans(_ now: BootInstant) {
        let hourAgo = now.advanced(by: .seconds(-3600))
        bans.removeAll { $0 <= hourAgo }
    }
}

/// What `GET /throttle` shows.
public struct AccountRates: Sendable, Hashable {
    /// Data points in the last minute.
    public var data: Int
    /// Attempts to log in over MQTT in the last minute.
    public var logins: Int
    /// SUBSCRIBE requests in the last minute.
    public var subscribes: Int
    /// Rejected PUBLISH requests in the last minute.
    public var publishes: Int
    /// Bans in the last hour.
    public var bans: Int
    /// What is said about a ban that lasts.
    public var banMessage: String?
}

extension Duration {
    /// Whole seconds, rounded up.
    var roundedUpToSeconds: Int {
        let (seconds, rest) = components
        return Int(seconds) + (rest > 0 ? 1 : 0)
    }
}
