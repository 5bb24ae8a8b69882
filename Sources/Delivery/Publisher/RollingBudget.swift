public import Diagnostics

/// How many events may still happen so that no window of `window` ever holds more than `limit`.
///
/// The service counts over 60 s; we count over 62, so that a message that was slow on its way does not make two windows
/// overlap. Pure: the caller tells the time (boot-time clock).
public struct RollingBudget: Sendable {
    /// The most events in one window.
    public private(set) var limit: Int
    /// The length of the window.
    public let window: Duration

    private var taken: [BootInstant] = []

    /// Makes a full budget.
    public init(limit: Int, window: Duration = .seconds(62)) {
        self.limit = max(0, limit)
        self.window = window
    }

    /// How many events the window that ends now holds.
    public func used(at now: BootInstant) -> Int {
        taken.count { $0.advanced(by: window) > now }
    }

    /// How many more may happen now.
    public func left(at now: BootInstant) -> Int { max(0, limit - used(at: now)) }

    /// When the next one may happen: now, or when enough old ones have left the window; nil when the limit is 0.
    public func nextFree(at now: BootInstant) -> BootInstant? {
        let current = taken.filter { $0.advanced(by: window) > now }
        guard current.count >= limit else { return now }
        guard limit > 0 else { return nil }
        return current[current.count - limit].advanced(by: window)
    }

    /// Takes one, if there is one.
    public mutating func take(at now: BootInstant) -> Bool {
        forget(before: now)
        guard taken.count < limit else { return false }
        taken.append(now)
        return true
    }

    /// Counts events that happened anyway, such as points that somebody else sent.
    public mutating func count(_ number: Int, at now: BootInstant) {
        forget(before: now)
        taken.append(contentsOf: repeatElement(now, count: max(0, min(number, 10_000 - taken.count))))
    }

    /// Changes the limit, keeping what was counted.
    public mutating func setLimit(_ limit: Int) {
        self.limit = max(0, limit)
    }

    private mutating func forget(before now: BootInstant) {
        let old = taken.prefix { $0.advanced(by: window) <= now }.count
        if old > 0 { taken.removeFirst(old) }
    }
}
