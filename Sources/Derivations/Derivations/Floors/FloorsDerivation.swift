internal import Diagnostics
public import Samples

/// Floors climbed up and down on foot, from pressure and steps: the stream `floors`.
///
/// Steps come from the stream `steps`, or, while there is none, are found in the accelerometer. Seconds are judged late,
/// because the steps at the start of a walk are known only once they are a streak.
public struct FloorsDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "floors"
    /// What can be set: which device.
    public static let keys = ["device"]

    /// The name of the kind.
    public var kind: String { FloorsDerivation.kind }
    /// Pressure, steps and the accelerometer.
    public let inputs: [Name]
    /// `floors`.
    public let outputs: [Stream]

    /// A second is judged this many seconds late: those around it decide too, and steps come late.
    private static let delay = 20
    /// Steps so many seconds before and after a second make it one of walking, when there are enough.
    private static let reach = 4
    private static let enough = 3
    /// Height that changes faster than this (m/s) without a step so many seconds before and after is a lift's.
    private static let carried = 0.15
    private static let alone = 3
    /// More than this in three seconds is a lift or a door: no stair is that steep.
    private static let jump = 2.7
    /// What a lift or a door does to the smoothed height shows so many seconds before and after.
    private static let liftSmear = 8
    private static let doorSmear = 4
    private static let room = 64

    private var series = EvenSeries(step: 1_000_000_000, longestGap: 6_000_000_000)
    private var floors = FloorCounter()
    private var counter = StepCounter()
    private var hasSteps = false
    private var lastCount: Double?
    /// Heights of the last seconds, and the smoothed ones.
    private var heights = [Double](repeating: 0, count: FloorsDerivation.room)
    private var newest = 0
    private var judged = 0
    private var origin: Int64 = 0
    /// Steps in each of the last seconds, by the second since `origin`.
    private var steps = [Int](repeating: 0, count: FloorsDerivation.room)
    private var stepsFrom = 0

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        inputs = ["pressure", "steps", "accelerometer"].map { settings.name($0) }
        outputs = [settings.stream("floors")]
    }

    /// Takes pressures in hPa, kPa or Pa, and steps or accelerations.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        switch batch.stream.name {
        case inputs[0]: takePressures(batch, into: &output)
        case inputs[1]: takeSteps(batch)
        case inputs[2]: takeAccelerations(batch)
        default: break
        }
    }

    private mutating func takePressures(_ batch: SampleBatch, into output: inout DerivedSamples) {
        let width = batch.stream.fields.count
        let place = batch.stream.fields.firstIndex { $0.name.text == "value" } ?? 0
        for row in 0..<batch.count {
            guard let given = batch.values[row * width + place].real, let pressure = PressureHeight.hectopascals(given)
            else { continue }
            let time = batch.times[row].nanoseconds
            switch series.add(time, PressureHeight.metres(pressure)) {
            case .nothing: break
            case .restart:
                flush(into: &output)
                floors.restart()
                origin = time
                newest = 0
                judged = 0
                stepsFrom = 0
                for place in steps.indices { steps[place] = 0 }
            case .cells(let cells):
                for cell in 0..<cells {
                    heights[newest % FloorsDerivation.room] = series.cell(cell)
                    newest += 1
                    if newest - FloorsDerivation.delay > judged { judge(into: &output) }
                }
            }
        }
    }

    private mutating func takeSteps(_ batch: SampleBatch) {
        hasSteps = true
        let width = batch.stream.fields.count
        guard let place = batch.stream.fields.firstIndex(where: { $0.name.text == "count" }) else { return }
        for row in 0..<batch.count {
            guard let count = batch.values[row * width + place].real else { continue }
            if let lastCount, count > lastCount {
                mark(batch.times[row].nanoseconds, Int(min(count - lastCount, 1_000)))
            } else if lastCount == nil, count > 0 {
                mark(batch.times[row].nanoseconds, 1)
            }
            lastCount = count
        }
    }

    private mutating func takeAccelerations(_ batch: SampleBatch) {
        guard !hasSteps, let axes = Axes(batch.stream) else { return }
        var found: [Int64] = []
        for row in 0..<batch.count {
            guard let a = axes.read(batch.values, row) else { continue }
            counter.add(batch.times[row].nanoseconds, a.x, a.y, a.z) { event in
                if case .step(let at) = event { found.append(at) }
            }
        }
        for time in found { mark(time, 1) }
    }

    private mutating func mark(_ time: Int64, _ count: Int) {
        let (distance, overflow) = time.subtractingReportingOverflow(origin)
        guard !overflow, distance >= 0 else { return }
        let second = Int(distance / 1_000_000_000)
        // Too old to be judged again, or so far ahead that pressure must have ended.
        guard second >= judged - FloorsDerivation.reach, second < judged + FloorsDerivation.room - 8 else { return }
        clear(to: second)
        steps[second % FloorsDerivation.room] += count
    }

    /// Empties the seconds that were not used before.
    private mutating func clear(to second: Int) {
        while stepsFrom <= second {
            steps[stepsFrom % FloorsDerivation.room] = 0
            stepsFrom += 1
        }
    }

    private mutating func judge(into output: inout DerivedSamples) {
        let second = judged
        judged += 1
        clear(to: second + FloorsDerivation.liftSmear + FloorsDerivation.alone)
        let isWalking =
            steps(around: second, FloorsDerivation.reach) >= FloorsDerivation.enough && !isLifted(around: second)
        guard floors.add(smoothed(second), isWalking: isWalking) else { return }
        output.append(
            0,
            time: Timestamp(nanoseconds: origin &+ Int64(second) * 1_000_000_000),
            [.integer(floors.up), .integer(floors.down)]
        )
    }

    private func steps(around second: Int, _ reach: Int) -> Int {
        (max(0, second - reach)...(second + reach)).reduce(0) { $0 + steps[$1 % FloorsDerivation.room] }
    }

    /// Whether a lift or a door moves the smoothed height of that second.
    private func isLifted(around second: Int) -> Bool {
        let door = second - FloorsDerivation.doorSmear...second + FloorsDerivation.doorSmear
        if door.contains(where: { abs(median(of: $0 + 2) - median(of: $0 - 1)) > FloorsDerivation.jump }) {
            return true
        }
        let lift = max(1, second - FloorsDerivation.liftSmear)...second + FloorsDerivation.liftSmear
        return lift.contains { near in
            abs(smoothed(near + 1) - smoothed(near - 1)) > 2 * FloorsDerivation.carried
                && steps(around: near, FloorsDerivation.alone) == 0
        }
    }

    /// The median of three seconds.
    private func median(of second: Int) -> Double {
        let (a, b, c) = (height(second - 1), height(second), height(second + 1))
        return max(min(a, b), min(max(a, b), c))
    }

    /// The mean of five medians of five seconds: a door's gust is shorter, a flight of stairs longer.
    private func smoothed(_ second: Int) -> Double {
        var sum = 0.0
        for middle in second - 2...second + 2 {
            var five = (middle - 2...middle + 2).map { height($0) }
            five.sort()
            sum += five[2]
        }
        return sum / 5
    }

    private func height(_ second: Int) -> Double {
        heights[max(0, min(newest - 1, second)) % FloorsDerivation.room]
    }

    /// Judges the last seconds.
    private mutating func flush(into output: inout DerivedSamples) {
        while judged < newest { judge(into: &output) }
    }

    /// Judges the last seconds.
    public mutating func finish(into output: inout DerivedSamples) { flush(into: &output) }

    /// Floors up and down.
    public var summary: [(name: String, value: Value)] {
        [("floors_ascended", .integer(floors.up)), ("floors_descended", .integer(floors.down))]
    }

    /// The totals so far.
    public var state: [UInt8]? { Array("\(floors.up) \(floors.down)".utf8) }

    /// Goes on from totals.
    public mutating func restore(_ state: [UInt8]) {
        let parts = String(decoding: state, as: UTF8.self).split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2, parts[0] >= 0, parts[1] >= 0 else { return }
        floors = FloorCounter(up: parts[0], down: parts[1])
    }
}
