internal import Diagnostics
internal import Samples

/// What `status` says of one stream. A value; the caller tells the time.
struct StreamMonitor: Sendable {
    /// How often its sampler was asked to read, if it was asked.
    let askedHertz: Double?
    /// Samples with at least one value.
    private(set) var good = 0
    /// Input that could not be used, and samples without any value.
    private(set) var bad = 0
    /// Samples older than one that came before.
    private(set) var late = 0
    /// Samples that say the same of the same moment as the one before.
    private(set) var duplicate = 0
    /// How the source is doing, as it said.
    private(set) var condition = SourceCondition.ok

    private var awaitedSince: BootInstant?
    private var newest = Timestamp(nanoseconds: .min)
    private var newestValues: [Value] = []
    private var lastArrival: BootInstant?
    private var shownRejection: BootInstant?
    // The rate over the last one to two periods.
    private static let period = Duration.seconds(5)
    private var periodStart: BootInstant?
    private var inPeriod = 0
    private var inLastPeriod: Int?

    init(askedHertz: Double?) {
        self.askedHertz = askedHertz
    }

    mutating func count(_ batch: SampleBatch, at now: BootInstant) {
        guard !batch.isEmpty else { return }
        let goodBefore = good
        // The place in the batch of the newest sample so far; before the first, `newestValues` has its values.
        var newestRow: Int?
        for row in 0..<batch.count {
            let values = batch.sample(row)
            if values.allSatisfy({ $0 == .missing }) { bad += 1 } else { good += 1 }
            let time = batch.times[row]
            guard time >= newest else {
                late += 1
                continue
            }
            if time == newest, values.elementsEqual(newestRow.map(batch.sample) ?? newestValues[...]) { duplicate += 1 }
            newest = time
            newestRow = row
        }
        if let newestRow { newestValues = Array(batch.sample(newestRow)) }
        if case .error = condition, good > goodBefore { condition = .ok }
        lastArrival = now
        turn(now)
        inPeriod += batch.count
    }

    /// Takes note of a condition; whether it is another one than before.
    mutating func note(_ condition: SourceCondition) -> Bool {
        defer { self.condition = condition }
        return condition != self.condition
    }

    /// Counts what could not be used; whether an example should be shown: at most one a minute.
    mutating func reject(_ count: Int, at now: BootInstant) -> Bool {
        bad += count
        if let shownRejection, shownRejection.duration(to: now) < .seconds(60) { return false }
        shownRejection = now
        return true
    }

    /// Counts samples that the source left out, since they had come before.
    mutating func skip(_ count: Int) { duplicate += count }

    /// Samples a second, over the last five to ten seconds; nil before the first five are over.
    func rate(at now: BootInstant) -> Double? {
        var copy = self
        copy.turn(now)
        guard let start = copy.periodStart, let last = copy.inLastPeriod else { return nil }
        let elapsed = start.duration(to: now).inSeconds
        return Double(last + copy.inPeriod) / (Self.period.inSeconds + elapsed)
    }

    /// How long ago the last sample came.
    func age(at now: BootInstant) -> Duration? { lastArrival?.duration(to: now) }

    /// Samples are to come from now on.
    mutating func expect(at now: BootInstant) { awaitedSince = now }

    /// How the source is doing, with silence noticed: three times as long without a sample as was asked for, and 5 s.
    func state(at now: BootInstant, isRunning: Bool) -> SourceCondition {
        guard condition == .ok, isRunning, let askedHertz, askedHertz > 0 else { return condition }
        let patience = max(5, 3 / askedHertz)
        guard let heard = [lastArrival, awaitedSince].compactMap(\.self).max() else { return condition }
        return heard.duration(to: now).inSeconds > patience ? .silent : condition
    }

    private mutating func turn(_ now: BootInstant) {
        guard let start = periodStart else {
            periodStart = now
            return
        }
        let periods = start.duration(to: now).nanoseconds / Self.period.nanoseconds
        guard periods > 0 else { return }
        inLastPeriod = periods == 1 ? inPeriod : 0
        inPeriod = 0
        periodStart = start.advanced(by: Self.period * Int(periods))
    }
}
