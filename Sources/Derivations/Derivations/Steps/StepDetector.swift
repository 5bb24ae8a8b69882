/// Finds the steps of a person in the magnitude of acceleration, wherever the device is carried.
///
/// Bring to an even grid, keep the band of steps, measure how regular the last seconds were; while they are regular,
/// count peaks, one for each period. Rhythm decides what is a walk, as in the counters that do best on desk work
/// (rieck/stepcounter-devel: a streak of rhythmic steps); a streak is credited once it is long enough.
struct StepDetector: Sendable {
    /// What a walk did.
    enum Event: Equatable {
        /// A step was made at this time; times only grow.
        case step(at: Int64)
        /// The walk that went on has ended; its last step was at this time.
        case ended(at: Int64)
    }

    let tuning: StepTuning
    private var series: EvenSeries
    private var low: Biquad
    private var high: Biquad
    private var meter: RegularityMeter
    private var tracker: StepTracker
    /// The band, twice in a row, so that any stretch of it lies in one piece.
    private var ring: [Float]
    private let length: Int
    /// Grid samples since the last restart.
    private var count = 0
    private(set) var regularity = Regularity()
    private(set) var isWalking = false
    private var period = 0.0
    private var weak = 0
    private var agreeing = 0
    /// When the last step was that was given out.
    private var lastTime = Int64.min
    private var lastStep = 0.0
    /// The end of the newest cell of the grid.
    private var newest: Int64 = 0
    /// The grid sample behind which steps were already given out.
    private var credited = 0.0

    init(_ tuning: StepTuning = StepTuning()) {
        self.tuning = tuning
        series = EvenSeries(step: Int64(1e9 / tuning.rate), longestGap: 500_000_000)
        low = Biquad.lowPass(tuning.highest, rate: tuning.rate)
        high = Biquad.highPass(tuning.lowest, rate: tuning.rate)
        meter = RegularityMeter(tuning)
        tracker = StepTracker(tuning)
        length = max(meter.reach, Int(7 * tuning.rate)) + 16
        ring = Array(repeating: 0, count: 2 * length)
    }

    /// The cadence in steps per second; nil when nobody walks.
    var cadence: Double? { isWalking && period > 0 ? tuning.rate / period : nil }

    /// The end of the newest cell of the grid.
    var time: Int64 { newest }

    /// Takes the magnitude in g at a time; `report` gets what it brings.
    mutating func add(_ time: Int64, _ magnitude: Double, _ report: (Event) -> Void) {
        switch series.add(time, magnitude) {
        case .nothing: return
        case .restart:
            restart(magnitude, report)
            newest = time
        case .cells(let cells):
            for place in 0..<cells { next(series.cell(place), end: series.cellEnd(place), report) }
        }
    }

    private mutating func restart(_ magnitude: Double, _ report: (Event) -> Void) {
        if isWalking { report(.ended(at: time(lastStep))) }
        isWalking = false
        lastTime = .min
        count = 0
        credited = 0
        agreeing = 0
        low.settle(at: magnitude)
        high.settle(at: magnitude)
        regularity = Regularity()
    }

    private mutating func next(_ value: Double, end: Int64, _ report: (Event) -> Void) {
        let banded = high.next(low.next(value))
        let place = count % length
        ring[place] = Float(banded)
        ring[place + length] = Float(banded)
        count += 1
        newest = end
        if isWalking { follow(report) }
        guard count >= meter.reach, count % tuning.hop == 0 else { return }
        let end = (count - 1) % length + length + 1
        regularity = ring.withUnsafeBufferPointer {
            meter.measure(UnsafeBufferPointer(rebasing: $0[(end - meter.reach)..<end]))
        }
        if isWalking { judge(report) } else { tryToBegin(report) }
    }

    private func time(_ place: Double) -> Int64 {
        newest - Int64((Double(count - 1) - place) * 1e9 / tuning.rate)
    }

    /// The mean over half a period, which takes away what repeats within a step; it lags by a quarter of a period.
    private func smoothed(_ place: Int, half: Int) -> Double {
        let end = place % length + length
        var sum: Float = 0
        for back in 0...2 * half { sum += ring[end - back] }
        return Double(sum) / Double(2 * half + 1)
    }

    private var half: Int { max(1, Int((period / 4).rounded())) }

    private mutating func follow(_ report: (Event) -> Void) {
        let place = count - 1
        let steps = tracker.add(smoothed(place, half: half), at: place - half, period: period)
        if steps > 0, let last = tracker.last {
            give(steps, from: lastStep, to: last, report)
        } else if Double(place) - lastStep > max(2.6 * period, 0.8 * tuning.rate) {
            end(report)
        }
    }

    /// Gives steps out: those that were filled in lie evenly between the two that were seen.
    private mutating func give(_ steps: Int, from: Double, to: Double, _ report: (Event) -> Void) {
        for step in 1...steps {
            let at = max(time(from + (to - from) * Double(step) / Double(steps)), lastTime &+ 1)
            lastTime = at
            report(.step(at: at))
        }
        lastStep = to
    }

    private mutating func end(_ report: (Event) -> Void) {
        isWalking = false
        credited = lastStep
        report(.ended(at: time(lastStep)))
    }

    private func isAlike(_ both: Double, _ stride: Double) -> Bool {
        regularity.stepLikeness > tuning.leastStep
            && (regularity.likeness >= both || regularity.strideLikeness >= stride)
    }

    private mutating func judge(_ report: (Event) -> Void) {
        if isAlike(tuning.goOn, tuning.goOnByStride), regularity.strength >= 0.5 * tuning.least {
            weak = 0
            let change = regularity.period / period
            if change > 0.75, change < 1.33 {
                period += 0.5 * (regularity.period - period)
            } else if isAlike(tuning.begin, tuning.beginByStride) {
                period = regularity.period
            }
        } else {
            weak += 1
            if Double(weak * tuning.hop) > 1.0 * tuning.rate { end(report) }
        }
    }

    private mutating func tryToBegin(_ report: (Event) -> Void) {
        guard isAlike(tuning.begin, tuning.beginByStride), regularity.strength >= tuning.least, !regularity.isFaster
        else {
            agreeing = 0
            return
        }
        let isSame = abs(regularity.period - period) < 0.15 * period
        period = regularity.period
        agreeing = isSame ? agreeing + 1 : 1
        guard agreeing >= tuning.agreement else { return }
        // Count again what was kept, back to where the walk began.
        let first = max(count - (length - 16), Int(credited) + 1, 4 * half)
        var streak = StepTracker(tuning)
        var run: [(steps: Int, place: Double, height: Double)] = []
        for place in first..<count {
            let steps = streak.add(smoothed(place, half: half), at: place - half, period: period)
            guard steps > 0, let last = streak.last else { continue }
            if let previous = run.last {
                // Every second step may be weak; a pair of steps is even in every walk.
                let interval = (last - previous.place) / period
                let off = abs(interval - interval.rounded())
                if interval > 2.6 || off > tuning.evenness { run.removeAll() }
            }
            run.append((run.isEmpty ? 1 : steps, last, streak.lastHeight))
        }
        guard let last = run.last, Double(count - 1) - last.place < 2.6 * period else { return }
        // What came before the first step, standing or turning about, is lower than a step.
        let usual = run.map(\.height).sorted()[run.count / 2]
        let begin = run.firstIndex { $0.height >= tuning.firstShare * usual } ?? 0
        run.removeFirst(begin)
        let total = run.reduce(0) { $0 + $1.steps }
        guard total >= tuning.streak else { return }
        agreeing = 0
        isWalking = true
        weak = 0
        tracker = streak
        lastStep = run[0].place
        for found in run { give(found.steps, from: lastStep, to: found.place, report) }
    }
}
