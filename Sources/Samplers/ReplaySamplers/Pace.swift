internal import Diagnostics
internal import Samples

/// When each row of a file is due: a value without a clock.
///
/// A row that goes back in time begins a new piece there and then, unless the rows after it go on as before.
struct Pace {
    /// Going back by less is disorder, not a new beginning.
    private static let disorder: Int64 = 1_000_000_000
    /// A row this near to where the piece before had stopped goes on with that piece.
    private static let continues: Int64 = 10_000_000_000

    /// Samples that come closer together than this are handed over together.
    static let coalescing: Int64 = 20_000_000

    private struct Piece {
        var start: BootInstant
        var firstTime: Int64
        var lastTime: Int64
    }

    private let speed: Double
    private var piece: Piece?
    private var before: Piece?

    init(speed: Double) { self.speed = speed }

    /// When the next row, which has that time, is due; the first row is due at once.
    mutating func due(_ time: Timestamp, now: BootInstant) -> BootInstant {
        let time = time.nanoseconds
        guard var current = piece else {
            piece = Piece(start: now, firstTime: time, lastTime: time)
            return now
        }
        if time < current.lastTime - Pace.disorder {
            let begin = instant(current.lastTime, in: current)
            before = current
            current = Piece(start: begin, firstTime: time, lastTime: time)
        } else if let old = before, time >= old.lastTime - Pace.disorder, time <= old.lastTime + Pace.continues,
            time > current.lastTime + Pace.continues
        {
            current = old
            before = nil
        }
        current.lastTime = max(current.lastTime, time)
        piece = current
        return instant(time, in: current)
    }

    private func instant(_ time: Int64, in piece: Piece) -> BootInstant {
        let distance = time - piece.firstTime
        let scaled = speed == 1 ? distance : Int64(min(max(Double(distance) / speed, -9e18), 9e18))
        let (sum, overflow) = piece.start.nanoseconds.addingReportingOverflow(scaled)
        return BootInstant(nanoseconds: overflow ? (scaled < 0 ? .min : .max) : sum)
    }

    /// When to wake for a row that is due at `due`, after a hand-over at `last`.
    ///
    /// Rows far apart come when they are due. Of rows close together many come at once, at multiples of `coalescing`, so that
    /// several replays wake the processor together.
    static func wake(for due: BootInstant, last: BootInstant) -> BootInstant {
        guard last.duration(to: due).nanoseconds < coalescing, due.nanoseconds <= .max - coalescing else { return due }
        let past = due.nanoseconds % coalescing
        return BootInstant(nanoseconds: past == 0 ? due.nanoseconds : due.nanoseconds - past + coalescing)
    }
}
