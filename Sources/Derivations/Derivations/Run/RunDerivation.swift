internal import Diagnostics
public import Samples

/// Tracks a run on `location`: the streams `run`, `run.split` and `run.session`.
///
/// A sample of `run` follows each fix that counts; `event` is `start`, `pause`, `resume`, `gap` or `stop`, or missing.
/// The clock is stopped and started by samples of `run.control` whose `command` is `pause`, `resume` or `stop`.
public struct RunDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "run"
    /// What can be set: filters in metres, seconds and m/s, the split's length, and which device.
    public static let keys = [
        "accuracy", "max_speed", "min_interval", "min_distance", "gap", "split", "auto_pause", "device",
    ]

    /// The name of the kind.
    public var kind: String { RunDerivation.kind }
    /// `location`, `steps` for the cadence, and `run.control`.
    public let inputs: [Name]
    /// `run`, `run.split` and `run.session`.
    public let outputs: [Stream]

    private let tuning: RunTuning
    private var tracker: RunTracker
    private var clock = EventClock()
    private var last: Int64?
    private var shown = 0.0
    private var cadence: (time: Int64, value: Double)?

    /// Makes it; every filter has a usual value.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        var tuning = RunTuning()
        tuning.accuracy = try settings.number("accuracy", in: 1...10_000, usual: tuning.accuracy)
        tuning.fastest = try settings.number("max_speed", in: 0.5...400, usual: tuning.fastest)
        tuning.interval = try settings.number("min_interval", in: 0...600, usual: tuning.interval)
        tuning.leg = try settings.number("min_distance", in: 0...1_000, usual: tuning.leg)
        if settings.text("gap") != nil { tuning.gap = try settings.number("gap", in: 1...86_400, usual: 60) }
        tuning.split = try settings.number("split", in: 10...1_000_000, usual: tuning.split)
        tuning.autoPause = try settings.word("auto_pause", of: ["true", "false"], usual: "true") == "true"
        self.tuning = tuning
        tracker = RunTracker(tuning)
        inputs = [settings.name("location"), settings.name("steps"), settings.name("run.control")]
        outputs = [settings.stream("run"), settings.stream("run.split"), settings.stream("run.session")]
    }

    /// Takes fixes, steps and commands.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        switch batch.stream.name {
        case inputs[0]: receive(fixes: batch, into: &output)
        case inputs[1]:
            guard let field = batch.stream.fields.firstIndex(where: { $0.name.text == "cadence" }) else { return }
            for row in 0..<batch.count {
                cadence = batch.value(row: row, field: field).number.map { (batch.times[row].nanoseconds, $0) }
            }
        case inputs[2]: for row in 0..<batch.count { obey(batch, row, into: &output) }
        default: break
        }
    }

    private mutating func receive(fixes batch: SampleBatch, into output: inout DerivedSamples) {
        guard let reader = LocationReader(batch.stream) else { return }
        var events: [RunEvent] = []
        for row in 0..<batch.count {
            var isNew = false
            switch reader.read(batch, row) {
            case .nothing: continue
            case .pause:
                tracker.interrupt { events.append($0) }
                // The next part may be of another time.
                clock.reset()
            case .fix(let fix):
                switch clock.take(fix.time, arrival: batch.arrival) {
                case .late: continue
                case .setBack: tracker.interrupt { events.append($0) }
                case .next: break
                }
                isNew = tracker.add(fix) { events.append($0) }
                last = fix.time
            }
            let hasNews = report(events, into: &output)
            events.removeAll(keepingCapacity: true)
            if isNew, !hasNews, let last { write(nil, last, into: &output) }
        }
    }

    private mutating func obey(_ batch: SampleBatch, _ row: Int, into output: inout DerivedSamples) {
        guard case .text(let command) = batch.value(row: row, field: 0) else { return }
        let time = batch.times[row].nanoseconds
        var events: [RunEvent] = []
        switch command {
        case "pause": tracker.hold(at: time) { events.append($0) }
        case "resume": tracker.release(at: time) { events.append($0) }
        case "stop": stop(at: time, into: &output)
        default: break
        }
        _ = report(events, into: &output)
    }

    /// Ends the run and gives out its session.
    public mutating func finish(into output: inout DerivedSamples) {
        if let last { stop(at: last, into: &output) }
    }

    private mutating func stop(at time: Int64, into output: inout DerivedSamples) {
        var events: [RunEvent] = []
        tracker.interrupt { events.append($0) }
        _ = report(events, into: &output)
        guard let start = tracker.start else { return }
        shown = tracker.distance
        write("stop", time, into: &output)
        finished = totals
        output.append(
            2,
            time: Timestamp(nanoseconds: time),
            [
                .text(Timestamp(nanoseconds: start).iso8601(fractionDigits: 0)), Value(tracker.distance / 1_000),
                Value(Double(tracker.duration) * 1e-9), Value(tracker.moving), Value(tracker.up), Value(tracker.down),
            ]
        )
        tracker = RunTracker(tuning)
        shown = 0
        last = nil
    }

    /// Whether there was anything for `run` itself.
    private mutating func report(_ events: [RunEvent], into output: inout DerivedSamples) -> Bool {
        var hasNews = false
        for event in events {
            switch event {
            case .started(let time): write("start", time, into: &output)
            case .paused(let time): write("pause", time, into: &output)
            case .resumed(let time): write("resume", time, into: &output)
            case .gap(let time): write("gap", time, into: &output)
            case .split(let split):
                output.append(
                    1,
                    time: Timestamp(nanoseconds: split.time),
                    [
                        .integer(Int64(split.number)), Value(split.distance), Value(split.moving),
                        Value(split.moving / split.distance), Value(split.climb),
                    ]
                )
                continue
            }
            hasNews = true
        }
        return hasNews
    }

    private mutating func write(_ event: String?, _ time: Int64, into output: inout DerivedSamples) {
        shown = max(shown, tracker.shownDistance)
        let speed = tracker.isPaused ? nil : tracker.speed
        var steps: Double?
        if let cadence, (0...10_000_000_000).contains(time &- cadence.time) { steps = cadence.value }
        output.append(
            0,
            time: Timestamp(nanoseconds: time),
            [
                event.map { .text($0) } ?? .missing, Value(shown), Value(Double(tracker.duration) * 1e-9),
                Value(tracker.moving), speed.flatMap { $0 > 0.1 ? Value(1 / $0) : nil } ?? .missing,
                Value(steps ?? .nan), Value(tracker.up),
            ]
        )
    }

    private typealias Totals = (distance: Double, duration: Double, moving: Double, up: Double)
    private var finished: Totals?
    private var totals: Totals { (tracker.distance, Double(tracker.duration) * 1e-9, tracker.moving, tracker.up) }

    /// Metres, seconds, metres up and seconds a metre of moving, of this run or the one that was finished.
    public var summary: [(name: String, value: Value)] {
        let totals = tracker.start == nil ? finished ?? totals : totals
        return [
            ("distance_m", Value(totals.distance)), ("duration_s", Value(totals.duration)),
            ("moving_s", Value(totals.moving)), ("ascent_m", Value(totals.up)),
            ("active_pace_s_m", totals.distance > 0 ? Value(totals.moving / totals.distance) : .missing),
        ]
    }

    /// The totals of the run that goes on.
    public var state: [UInt8]? {
        guard let start = tracker.start else { return nil }
        return Array("\(start) \(tracker.duration) \(tracker.distance) \(tracker.moving)".utf8)
    }

    /// Goes on with a run; the time in between is a gap.
    public mutating func restore(_ state: [UInt8]) {
        let parts = String(decoding: state, as: UTF8.self).split(separator: " ")
        guard parts.count == 4, let start = Int64(parts[0]), let duration = Int64(parts[1]), duration >= 0,
            let distance = Double(parts[2]), (0...1e9).contains(distance), let moving = Double(parts[3]),
            (0...1e9).contains(moving)
        else { return }
        tracker = RunTracker(tuning, distance: distance, duration: duration, moving: moving, start: start)
        shown = distance
    }
}
