internal import Diagnostics

/// Data points in a rolling window, each from the moment it leaves until 62 s later, or until 60 s after its fate is known.
///
/// The service counts a point when it takes it, which is some time between those two moments. So a point that was slow
/// on its way cannot fall into the same minute of the service as those that we send after it left our window.
struct SpendingWindow: Sendable, Hashable, Codable {
    /// Points that left together.
    struct Spending: Sendable, Hashable, Codable {
        var key: Int
        var live: Int
        var backlog: Int
        var at: BootInstant
        /// When they leave the window; nil while their fate is not known.
        var until: BootInstant?
    }

    private(set) var spendings: [Spending] = []
    private(set) var live = 0
    private(set) var backlog = 0

    static let length = Duration.seconds(62)
    static let afterFate = Duration.seconds(60)
    private static let mostSpendings = 512

    /// How many points the window holds.
    var used: Int { live + backlog }

    /// When the next points leave the window; nil when it holds none whose fate is known.
    var nextFree: BootInstant? { spendings.lazy.compactMap(\.until).min() }

    /// Lets go what has left the window; true when something has.
    mutating func advance(to now: BootInstant) -> Bool {
        guard spendings.contains(where: { $0.until.map { $0 <= now } ?? false }) else { return false }
        spendings.removeAll { spending in
            guard let until = spending.until, until <= now else { return false }
            live -= spending.live
            backlog -= spending.backlog
            return true
        }
        return true
    }

    /// Counts points that leave now.
    mutating func spend(live: Int, backlog: Int, key: Int, at now: BootInstant) {
        spendings.append(Spending(key: key, live: live, backlog: backlog, at: now))
        self.live += live
        self.backlog += backlog
        if spendings.count > Self.mostSpendings { merge() }
    }

    /// The fate of those points is known at `now`.
    mutating func close(_ key: Int, at now: BootInstant) {
        guard let index = spendings.lastIndex(where: { $0.key == key && $0.until == nil }) else { return }
        spendings[index].until = max(
            spendings[index].at.advanced(by: Self.length),
            now.advanced(by: Self.afterFate)
        )
    }

    /// Those points never left.
    mutating func refund(_ key: Int) {
        guard let index = spendings.lastIndex(where: { $0.key == key && $0.until == nil }) else { return }
        let spending = spendings.remove(at: index)
        live -= spending.live
        backlog -= spending.backlog
    }

    /// Takes back what was counted last.
    mutating func removeLatest() {
        guard let last = spendings.popLast() else { return }
        live -= last.live
        backlog -= last.backlog
    }

    /// After a start of the program: what was under way is closed; after a reboot (`isNewBoot`) all counts as of now.
    mutating func restart(at now: BootInstant, isNewBoot: Bool) {
        for index in spendings.indices {
            let until =
                spendings[index].until
                ?? max(
                    min(spendings[index].at, now).advanced(by: Self.length),
                    now.advanced(by: Self.afterFate)
                )
            let latest = now.advanced(by: Self.length)
            spendings[index].until = isNewBoot ? latest : min(until, latest)
        }
        _ = advance(to: now)
    }

    /// Two neighbours become one that stays as long as the later one.
    private mutating func merge() {
        var merged: [Spending] = []
        let never = BootInstant(nanoseconds: .max)
        for spending in spendings.sorted(by: { ($0.until ?? never) < ($1.until ?? never) }) {
            if let last = merged.last, let until = spending.until, let lastUntil = last.until,
                lastUntil.duration(to: until) < .milliseconds(500)
            {
                merged[merged.count - 1].live += spending.live
                merged[merged.count - 1].backlog += spending.backlog
                merged[merged.count - 1].until = until
            } else {
                merged.append(spending)
            }
        }
        spendings = merged
    }
}
