internal import Diagnostics

/// Whether the wall clock is right, and by how much times were wrong when it becomes so. A value without a clock.
///
/// A small computer without a battery for its clock starts in 1970, and is set when the network is there.
struct RecorderClock {
    /// What both clocks show at one moment.
    struct Reading {
        let wall: Timestamp
        let boot: BootInstant

        /// The wall clock less the boot-time clock: it changes only when the wall clock is set.
        var offset: Duration { .nanoseconds(wall.nanoseconds &- boot.nanoseconds) }
    }

    /// 2020-01-01: a wall clock before it is plainly wrong.
    static let plausible = Timestamp(nanoseconds: 1_577_836_800_000_000_000)
    /// A sample with a time as far as this from our clock has it from another one.
    private static let far = Duration.seconds(3600)
    /// Less than this is a clock being steered, and not set.
    private static let leastStep = Duration.seconds(1)

    private(set) var isRight = true
    /// The offset of the wall clock since it is wrong, or when it was so last.
    private var wrong: Duration?
    private var wall = Timestamp(nanoseconds: 0)
    private var fixUp: Duration?

    /// Whether times are to be put right.
    var isFixUpDue: Bool { fixUp != nil }

    /// Says whether the wall clock is right.
    mutating func set(isRight: Bool, _ reading: Reading) {
        note(reading)
        if isRight, !self.isRight {
            becomeRight(reading)
        } else if !isRight, self.isRight {
            wrong = reading.offset
            self.isRight = false
        }
    }

    /// Looks at the clock: one that is set while it is wrong, to a time that can be, is right from then on.
    mutating func note(_ reading: Reading) {
        wall = reading.wall
        guard !isRight, let wrong, reading.wall >= Self.plausible else { return }
        let step = reading.offset - wrong
        if step > Self.leastStep || step < .zero - Self.leastStep { becomeRight(reading) }
    }

    private mutating func becomeRight(_ reading: Reading) {
        isRight = true
        guard let wrong else { return }
        fixUp = (fixUp ?? .zero) + reading.offset - wrong
    }

    /// Whether a time is right: one of 1970 is not, though it comes a moment after the clock was set, and one from
    /// elsewhere is, though our clock is wrong.
    func isRight(for time: Timestamp?) -> Bool {
        guard let time, wrong != nil else { return isRight }
        if time < Self.plausible { return false }
        let lag = wall - time
        return isRight || lag > Self.far || lag < .zero - Self.far
    }

    mutating func takeFixUp() -> Duration? {
        defer { fixUp = nil }
        return fixUp
    }

    mutating func putBack(_ offset: Duration) { fixUp = (fixUp ?? .zero) + offset }
}
