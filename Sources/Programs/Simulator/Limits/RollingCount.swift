internal import AdafruitIO
internal import Diagnostics

/// How often something happened in the last minute.
struct RollingCount {
    private struct Event {
        var time: BootInstant
        var amount: Int
    }

    private var events: [Event] = []
    private(set) var total = 0

    /// Notes `amount` more at `now`.
    mutating func add(_ amount: Int = 1, at now: BootInstant) {
        forget(now)
        events.append(Event(time: now, amount: amount))
        total += amount
    }

    /// How many there are at `now`.
    mutating func count(at now: BootInstant) -> Int {
        forget(now)
        return total
    }

    /// How long after `now` at most `limit` are left, if nothing is added.
    mutating func wait(until limit: Int, at now: BootInstant) -> Duration {
        forget(now)
        var left = total
        for event in events {
            guard left > limit else { break }
            left -= event.amount
            if left <= limit {
                return now.duration(to: event.time.advanced(by: AccountLimits.window))
            }
        }
        return .zero
    }

    private mutating func forget(_ now: BootInstant) {
        let oldest = now.advanced(by: .zero - AccountLimits.window)
        let old = events.prefix { $0.time <= oldest }
        guard !old.isEmpty else { return }
        total -= old.reduce(0) { $0 + $1.amount }
        events.removeFirst(old.count)
    }
}
