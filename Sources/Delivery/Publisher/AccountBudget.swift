internal import Diagnostics

/// What the account may still do in the last minute, both links together. It survives a restart.
///
/// Our points stay within `share` of the plan, and together with the points of others that were seen within the plan.
/// A few points are reserved for the switch and its status. Failures are limited by counting each attempt as one until
/// it is known to have succeeded, so the limit holds even if all that is under way fails.
struct AccountBudget: Sendable, Hashable, Codable {
    /// Data points a minute that the account may send; nil: there is no limit (a plain broker).
    var plan: Int?
    /// What part of it is ours, 0 to 1.
    var share: Double
    /// What the backlog gets at least, 0 to 1.
    var backlogShare: Double

    private(set) var ours = SpendingWindow()
    private(set) var foreign = SpendingWindow()
    /// Live points that came, sent or not: what the backlog has to leave room for.
    private(set) var arrivals = SpendingWindow()
    private var nextKey = -1

    var logins = EventWindow(limit: 6)
    var subscribes = EventWindow(limit: 100)
    var failedPublishes = EventWindow(limit: 10)
    var failedSubscribes = EventWindow(limit: 10)

    init(plan: Int?, share: Double, backlogShare: Double) {
        self.plan = plan
        self.share = share
        self.backlogShare = backlogShare
    }

    /// Our points a minute.
    var limit: Int? { plan.map { Int((Double($0) * share + 1e-9).rounded(.down)) } }

    /// How many of ours only the switch, its status and the feeds' upkeep may use.
    var reserve: Int {
        guard let limit, limit >= 4 else { return 0 }
        return min(3, max(1, limit / 15))
    }

    /// Our data points a minute.
    var dataLimit: Int? { limit.map { $0 - reserve } }

    /// The least that the backlog gets of `dataLimit`, while there is one.
    var backlogLeast: Int { dataLimit.map { min($0, Int((Double($0) * backlogShare).rounded(.up))) } ?? 0 }

    /// What the backlog may use in a window.
    var backlogMost: Int {
        guard let dataLimit else { return .max }
        return max(backlogLeast, dataLimit - min(arrivals.used, dataLimit - backlogLeast))
    }

    /// Points that may be sent for the switch and the like.
    var leftForOwn: Int {
        guard let plan, let limit else { return .max }
        return max(0, min(limit - ours.used, plan - ours.used - foreign.used))
    }

    private var leftForData: Int { plan == nil ? .max : max(0, leftForOwn - reserveLeft) }

    /// What of the reserve is still kept back: own requests that were made have used their part.
    private var reserveLeft: Int { max(0, reserve - ownUsed) }
    private var ownUsed: Int { ours.spendings.reduce(0) { $0 + ($1.key < 0 ? $1.live : 0) } }

    /// Live points that may be sent now; a backlog keeps its share.
    func leftForLive(hasBacklog: Bool) -> Int {
        guard let dataLimit, hasBacklog else { return leftForData }
        return max(0, min(leftForData, dataLimit - backlogLeast - (ours.live - ownUsed)))
    }

    /// Points of the backlog that may be sent now.
    var leftForBacklog: Int {
        plan == nil ? .max : max(0, min(leftForData, backlogMost - ours.backlog))
    }

    /// When something more may be sent; nil when nothing is waited for.
    var nextFree: BootInstant? {
        [ours.nextFree, foreign.nextFree, arrivals.nextFree].compactMap { $0 }.min()
    }

    /// Lets go what has left the windows; true when something has.
    mutating func advance(to now: BootInstant) -> Bool {
        let changes = [ours.advance(to: now), foreign.advance(to: now), arrivals.advance(to: now)]
        return changes.contains(true)
    }

    /// Counts points of ours that leave now, under the number of their message or request.
    mutating func spend(live: Int, backlog: Int, key: Int, at now: BootInstant) {
        guard plan != nil else { return }
        ours.spend(live: live, backlog: backlog, key: key, at: now)
    }

    /// The fate of those points is known.
    mutating func close(_ key: Int, at now: BootInstant) { ours.close(key, at: now) }

    /// Those points never left this machine.
    mutating func refund(_ key: Int) { ours.refund(key) }

    /// Counts points of the switch, its status, or changes of feeds, which count too.
    mutating func spendOwn(_ count: Int, at now: BootInstant) {
        guard plan != nil, count > 0 else { return }
        nextKey -= 1
        ours.spend(live: count, backlog: 0, key: nextKey, at: now)
        // Its fate is never told; a few seconds more than the window make up for it.
        ours.close(nextKey, at: now.advanced(by: .seconds(5)))
    }

    /// Counts points that others on the account have sent.
    mutating func countForeign(_ count: Int, at now: BootInstant) {
        guard plan != nil, count > 0 else { return }
        foreign.spend(live: count, backlog: 0, key: 0, at: now)
        foreign.close(0, at: now)
    }

    /// Counts live points that came.
    mutating func countArrivals(_ count: Int, at now: BootInstant) {
        guard plan != nil, count > 0 else { return }
        arrivals.spend(live: count, backlog: 0, key: 0, at: now)
        arrivals.close(0, at: now)
    }

    /// A live point has become backlog: the backlog need not leave room for it.
    mutating func arrivalAged() { arrivals.removeLatest() }

    /// The service says how many points it has counted in its minute: what we do not know of is of others.
    mutating func serviceCounted(_ used: Int, at now: BootInstant) {
        countForeign(min(used, 10 * (plan ?? 0)) - ours.used - foreign.used, at: now)
    }

    /// After a start of the program; after a reboot all that was counted last counts as of now.
    mutating func restart(at now: BootInstant, isNewBoot: Bool) {
        ours.restart(at: now, isNewBoot: isNewBoot)
        foreign.restart(at: now, isNewBoot: isNewBoot)
        arrivals = SpendingWindow()
        let windows: [WritableKeyPath<AccountBudget, EventWindow>] = [
            \.logins, \.subscribes, \.failedPublishes, \.failedSubscribes,
        ]
        for window in windows {
            if isNewBoot { self[keyPath: window].restart(at: now) } else { self[keyPath: window].clamp(to: now) }
        }
    }
}
