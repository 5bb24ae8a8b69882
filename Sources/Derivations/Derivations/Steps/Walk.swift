/// What a person's steps add up to: count, distance, cadence, and when they paused.
struct Walk: Sendable {
    /// What the steps tell.
    enum Event: Equatable {
        case paused
        case resumed
    }

    /// Between two steps farther apart than this lies a pause, in nanoseconds (the facts: 3 to 5 s without a step).
    static let pause: Int64 = 4_000_000_000
    /// Cadence is that of so many nanoseconds (the facts: the last 5 to 10 s).
    static let cadenceSpan: Int64 = 6_000_000_000

    private let length: StepLength
    private(set) var count: Int64
    private(set) var metres: Double
    /// Time spent walking, in nanoseconds.
    private(set) var active: Int64 = 0
    private(set) var isPaused = true
    private(set) var last: Int64?
    /// Times of the last steps, a ring.
    private var recent = [Int64](repeating: 0, count: 32)
    private var kept = 0

    init(height: Double, count: Int64 = 0, metres: Double = 0) {
        length = StepLength(height: height)
        self.count = count
        self.metres = metres
    }

    /// Takes a step; tells whether it ended a pause.
    mutating func step(_ time: Int64) -> Event? {
        let isResumed = isPaused || last.map { time &- $0 > Walk.pause } ?? true
        if isResumed {
            kept = 0
        } else if let last {
            active &+= time &- last
        }
        recent[kept % recent.count] = time
        kept += 1
        last = time
        isPaused = false
        count += 1
        // The first step of a walk has no cadence yet: its length is that of the second.
        if let cadence { metres += length.metres(at: cadence) * (kept == 2 ? 2 : 1) }
        return isResumed ? .resumed : nil
    }

    /// Takes note that it is `time`; tells whether a pause began, with its moment.
    mutating func pass(_ time: Int64) -> Int64? {
        guard !isPaused, let last, time &- last > Walk.pause else { return nil }
        isPaused = true
        kept = 0
        return last &+ Walk.pause
    }

    /// Steps per second over the last seconds; nil before the second step.
    var cadence: Double? {
        guard kept >= 2, let last else { return nil }
        var steps = 0
        var first = last
        for back in 1..<min(kept, recent.count) {
            let time = recent[(kept - 1 - back) % recent.count]
            guard last &- time <= Walk.cadenceSpan else { break }
            steps += 1
            first = time
        }
        guard steps > 0, last > first else { return nil }
        return Double(steps) * 1e9 / Double(last &- first)
    }

    /// Seconds per metre now; nil when nobody walks.
    var pace: Double? {
        guard let cadence else { return nil }
        return 1 / (cadence * length.metres(at: cadence))
    }

    /// Seconds per metre over all the time spent walking.
    var activePace: Double? { metres > 0 && active > 0 ? Double(active) * 1e-9 / metres : nil }
}
