/// Brings the samples of several sensors into the order of their times, as they come in batches of one sensor each.
///
/// A sensor that is behind is waited for, but for some seconds of the others' samples only; memory is bounded.
struct SampleMerger: Sendable {
    /// One sample on its way.
    struct Entry {
        let channel: Int
        let time: Int64
        let value: Vector
    }

    private struct Channel: Sendable {
        var times: [Int64]
        var values: [Vector]
        var head = 0
        var count = 0
        var newest = Int64.min
        var isAwaited: Bool
        var late = 0
    }

    /// So many nanoseconds a sensor is waited for.
    private static let patience: Int64 = 6_000_000_000
    /// So many samples of a sensor wait at most; a power of two.
    private static let room = 2_048
    /// So many samples in a row that are not newer than the newest mean that the clock was set back.
    private static let lateUntilBelieved = 50

    private var channels: [Channel]
    private var oldest = Int64.max
    private var newest = Int64.min

    /// Makes it for channels that are waited for from the start, or once they were seen.
    init(awaited: [Bool]) {
        channels = awaited.map {
            Channel(
                times: Array(repeating: 0, count: SampleMerger.room),
                values: Array(repeating: .zero, count: SampleMerger.room),
                isAwaited: $0
            )
        }
    }

    /// Takes a sample; false when it means that the clock was set back, and everything begins again with it.
    mutating func push(_ channel: Int, _ time: Int64, _ value: Vector) -> Bool {
        var isNewClock = false
        if time <= channels[channel].newest {
            channels[channel].late += 1
            guard channels[channel].late >= SampleMerger.lateUntilBelieved else { return true }
            isNewClock = true
        } else if newest > .min, time.subtractingReportingOverflow(newest).overflow {
            isNewClock = true
        }
        if isNewClock { forget() }
        channels[channel].late = 0
        if channels[channel].count == SampleMerger.room { drop(channel) }
        let place = (channels[channel].head + channels[channel].count) & (SampleMerger.room - 1)
        channels[channel].times[place] = time
        channels[channel].values[place] = value
        channels[channel].count += 1
        channels[channel].newest = time
        channels[channel].isAwaited = true
        newest = max(newest, time)
        oldest = min(oldest, time)
        return !isNewClock
    }

    private mutating func drop(_ channel: Int) {
        channels[channel].head = (channels[channel].head + 1) & (SampleMerger.room - 1)
        channels[channel].count -= 1
    }

    private mutating func forget() {
        for channel in channels.indices {
            channels[channel].head = 0
            channels[channel].count = 0
            channels[channel].newest = .min
            channels[channel].late = 0
        }
        newest = .min
        oldest = .max
    }

    /// The next sample in order, when none that is older can still come; with `isLast` nothing is waited for.
    mutating func next(isLast: Bool = false) -> Entry? {
        var first = -1
        var time = Int64.max
        for channel in channels.indices {
            guard channels[channel].count > 0 else {
                guard !isLast, channels[channel].isAwaited else { continue }
                let since = max(channels[channel].newest, oldest)
                if newest &- since <= SampleMerger.patience { return nil }
                // It is waited for again when it comes back.
                channels[channel].isAwaited = false
                continue
            }
            let head = channels[channel].times[channels[channel].head]
            if head < time {
                time = head
                first = channel
            }
        }
        guard first >= 0 else { return nil }
        let value = channels[first].values[channels[first].head]
        drop(first)
        return Entry(channel: first, time: time, value: value)
    }
}
