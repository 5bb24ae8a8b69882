internal import Diagnostics

/// Puts the times of scans onto the wall clock, and finds the scans that are not there.
struct ScanClock {
    /// Which of the kernel's clocks the times are of.
    enum Base: Sendable, Equatable {
        /// `realtime`: the wall clock as it stands.
        case wall
        /// `boottime`: no step of the wall clock moves it.
        case boot
        /// Another one: its distance is found from the arrival of the first scans.
        case other
        /// Scans have no time: they are spread over the time since the last ones.
        case none

        /// Reads `current_timestamp_clock`.
        init(_ text: String?) {
            switch text {
            case nil, "realtime", "realtime_coarse": self = .wall
            case "boottime": self = .boot
            default: self = .other
            }
        }
    }

    let base: Base
    /// From the scans' clock to the wall clock.
    private var distance: Int64?
    private var last: Timestamp?
    private var gaps: GapMeter
    private let nominal: Double?

    /// - Parameters:
    ///   - hertz: The rate that the sensor says it has.
    init(_ base: Base, hertz: Double?) {
        self.base = base
        nominal = hertz
        gaps = GapMeter(hertz: hertz)
    }

    /// The times of scans that were read just now, the oldest first, and how many scans are missing among them.
    mutating func times(_ raw: [Int64], count: Int, wall: Timestamp, boot: BootInstant) -> (
        times: [Timestamp], lost: Int
    ) {
        guard base != .none, raw.count == count, let newest = raw.last else {
            return (spread(count, until: wall), 0)
        }
        var lost = 0
        for time in raw { lost = lost &+ gaps.lost(before: time) }
        let shift: Int64
        switch base {
        case .wall, .none: shift = 0
        case .boot:
            let now = wall.nanoseconds &- boot.nanoseconds
            // Between reading the two clocks we may be put to sleep: only a real step counts.
            if distance.map({ ($0 &- now).magnitude > 20_000_000 }) ?? true { distance = now }
            shift = distance ?? now
        case .other:
            shift = distance ?? (wall.nanoseconds &- newest)
            distance = shift
        }
        last = Timestamp(nanoseconds: newest &+ shift)
        return (raw.map { Timestamp(nanoseconds: $0 &+ shift) }, lost)
    }

    /// Evenly up to now, by the sensor's rate, and never before what came already.
    private mutating func spread(_ count: Int, until now: Timestamp) -> [Timestamp] {
        guard count > 0 else { return [] }
        defer { last = now }
        var period = nominal.map { 1e9 / $0 } ?? 0
        if let last, last < now {
            let room = Double(now.nanoseconds &- last.nanoseconds)
            if period == 0 || period * Double(count) > room { period = room / Double(count) }
        }
        return (0..<count).map { place in
            let back = min(period * Double(count - 1 - place), 1e18)
            return Timestamp(nanoseconds: now.nanoseconds &- Int64(back))
        }
    }
}

/// Counts the scans that a full buffer has dropped, by the times of those that came.
struct GapMeter {
    private var period: Double?
    private var last: Int64?
    private var seen: [Double] = []
    private var oddInRow = 0

    init(hertz: Double?) {
        period = hertz.flatMap { $0.isFinite && $0 > 0 ? 1e9 / $0 : nil }
    }

    /// How many scans are missing between the last one and this one.
    mutating func lost(before time: Int64) -> Int {
        defer { last = time }
        guard let last else { return 0 }
        let step = Double(time) - Double(last)
        guard step > 0 else { return 0 }
        guard let period else {
            // Without a rate, the middle of the first steps is one.
            seen.append(step)
            if seen.count >= 15 {
                self.period = seen.sorted()[seen.count / 2]
                seen = []
            }
            return 0
        }
        // A sensor's own clock is some percent off what it says: follow it.
        if step > period * 0.5, step < period * 1.5 {
            self.period = period + (step - period) / 64
            oddInRow = 0
            return 0
        }
        // When no step is as it should be, the sensor does not keep the rate that it says: learn its own.
        oddInRow += 1
        if oddInRow >= 16 {
            self.period = nil
            oddInRow = 0
        }
        guard step >= period * 1.75 else { return 0 }
        return Int(min(step / period, 1e9).rounded()) - 1
    }
}
