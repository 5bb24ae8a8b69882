internal import Diagnostics
public import Samples

/// Zones of the heart rate and its variability, from `heart_rate`: the streams `heart_zone` and `heart_variability`.
///
/// Zones 1 to 5 begin at 50, 60, 70, 80 and 90 % of the highest rate, or of what lies between rest and that when `rest` is
/// set; 0 is below. Variability is that of the last five minutes, every ten seconds.
public struct HeartDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "heart"
    /// What can be set: the highest rate, or the age that it follows from, the rate at rest, seconds, and which device.
    public static let keys = ["max", "age", "rest", "window", "device"]

    /// The name of the kind.
    public var kind: String { HeartDerivation.kind }
    /// `heart_rate`.
    public let inputs: [Name]
    /// `heart_zone` and `heart_variability`.
    public let outputs: [Stream]

    private let lowest: Double
    private let highest: Double
    private var clock = EventClock()
    private var zone: Int?
    private var filter = BeatFilter()
    private var window: BeatWindow
    private var lastInterval: Double?
    /// When intervals came last, and how long the ones since then are together.
    private var heard: (time: Int64, sum: Double)?
    private var nextReport: Int64?

    private static let report: Int64 = 10_000_000_000
    /// A zone is left downwards only when the rate is so much below its border, in beats a minute.
    private static let hysteresis = 2.0
    private static let rates = 25.0...240.0

    /// Makes it; without `max` the highest rate is 208 - 0.7 times the age (Tanaka 2001), of 40 when that is not said.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        let age = try settings.number("age", in: 5...110, usual: 40)
        highest = try settings.number("max", in: 100...240, usual: 208 - 0.7 * age)
        lowest = try settings.number("rest", in: 25...100, usual: 0)
        window = BeatWindow(seconds: try settings.number("window", in: 30...300, usual: 300))
        inputs = [settings.name("heart_rate")]
        outputs = [settings.stream("heart_zone"), settings.stream("heart_variability")]
    }

    /// Takes rates in beats a minute and intervals in seconds.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0] else { return }
        func place(_ name: String) -> Int? { batch.stream.fields.firstIndex { $0.name.text == name } }
        let (rate, interval) = (place("bpm"), place("rr"))
        for row in 0..<batch.count {
            let time = batch.times[row].nanoseconds
            var isNew = true
            switch clock.take(time, arrival: batch.arrival) {
            // One message of a strap holds several intervals.
            case .late where clock.newest == time: isNew = false
            case .late: continue
            case .setBack: restart()
            case .next: break
            }
            if isNew, let rate, let bpm = batch.value(row: row, field: rate).real {
                judge(bpm, batch.times[row], into: &output)
            }
            guard let interval, let seconds = batch.value(row: row, field: interval).real else { continue }
            add(seconds, time)
            report(time, into: &output)
        }
    }

    private mutating func judge(_ bpm: Double, _ time: Timestamp, into output: inout DerivedSamples) {
        guard HeartDerivation.rates.contains(bpm) else {
            if zone != nil { output.append(0, time: time, [.missing, .missing]) }
            zone = nil
            return
        }
        var found = 0
        for share in stride(from: 0.5, through: 0.91, by: 0.1) {
            let border = lowest + share * (highest - lowest)
            let isHeld = (zone ?? 0) > found
            guard bpm >= border - (isHeld ? HeartDerivation.hysteresis : 0) else { break }
            found += 1
        }
        guard found != zone else { return }
        zone = found
        output.append(0, time: time, [.integer(Int64(found)), Value(bpm)])
    }

    private mutating func add(_ interval: Double, _ time: Int64) {
        if let heard, time > heard.time {
            // More time has passed than the intervals of this message fill: some are missing.
            if Double(time &- heard.time) * 1e-9 > heard.sum + interval + 2 {
                filter.interrupt()
                lastInterval = nil
            }
            self.heard = (time, interval)
        } else {
            heard = (time, (heard?.sum ?? 0) + interval)
        }
        switch filter.judge(interval) {
        case .rejected:
            window.add(interval, change: nil, isNormal: false, at: time)
            lastInterval = nil
        case .normal(let follows):
            let change = follows ? lastInterval.map { interval - $0 } : nil
            window.add(interval, change: change, isNormal: true, at: time)
            lastInterval = interval
        }
    }

    private mutating func report(_ time: Int64, into output: inout DerivedSamples) {
        guard let next = nextReport else {
            nextReport = time &+ HeartDerivation.report
            return
        }
        guard time >= next else { return }
        nextReport = time &+ HeartDerivation.report
        // With every fifth beat rejected the rhythm is not one whose variability means anything.
        let isTrusted = window.rejected * 5 <= window.normal
        output.append(
            1,
            time: Timestamp(nanoseconds: time),
            [
                Value(isTrusted ? window.rmssd ?? .nan : .nan), Value(isTrusted ? window.sdnn ?? .nan : .nan),
                .integer(Int64(window.normal)), .integer(Int64(window.rejected)),
            ]
        )
    }

    private mutating func restart() {
        filter = BeatFilter()
        window.clear()
        lastInterval = nil
        heard = nil
        nextReport = nil
    }
}
