internal import Diagnostics

/// Events of one kind in a rolling window, such as log-ins: never more than `limit` in any window.
///
/// Pure and Codable: the caller tells the time (boot-time clock). An event can be taken back, which is how failures are
/// limited: each attempt counts until it is known to have succeeded.
struct EventWindow: Sendable, Hashable, Codable {
    /// The most events in one window.
    let limit: Int
    private(set) var taken: [BootInstant] = []

    /// Our window is longer than the service's minute, for what is slow on its way.
    static let length = Duration.seconds(62)

    init(limit: Int) {
        self.limit = limit
    }

    /// How many more may happen now.
    func left(at now: BootInstant) -> Int {
        max(0, limit - taken.count { $0.advanced(by: Self.length) > now })
    }

    /// When `count` may happen at once: now, or when enough old ones have left the window.
    func nextFree(_ count: Int = 1, at now: BootInstant) -> BootInstant {
        let current = taken.filter { $0.advanced(by: Self.length) > now }
        let excess = current.count + count - limit
        guard excess > 0 else { return now }
        return current[min(excess, current.count) - 1].advanced(by: Self.length)
    }

    /// Counts one.
    mutating func count(at now: BootInstant) {
        taken.removeAll { $0.advanced(by: Self.length) <= now }
        taken.append(now)
    }

    /// Takes one back that was counted at `instant`: it did not fail.
    mutating func takeBack(_ instant: BootInstant) {
        guard let index = taken.firstIndex(of: instant) else { return }
        taken.remove(at: index)
    }

    /// All that is counted counts as of `now`: the clock that it was counted by is gone.
    mutating func restart(at now: BootInstant) {
        taken = taken.map { _ in now }
    }

    /// Forgets what can only be of another clock.
    mutating func clamp(to now: BootInstant) {
        taken = taken.map { min($0, now) }
    }
}
