internal import Diagnostics
internal import Glibc
public import Samples

/// What the person or device is doing: the stream `activity`, a sample for each change and every ten seconds.
public struct ActivityDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "activity"
    /// What can be set: which device.
    public static let keys = ["device"]

    /// The name of the kind.
    public var kind: String { ActivityDerivation.kind }
    /// The accelerometer and the position.
    public let inputs: [Name]
    /// `activity`.
    public let outputs: [Stream]

    /// The answer must be the same for so many seconds.
    private static let agreement = 2
    /// Seconds between two samples of the same class.
    private static let every = 10
    /// A speed counts for so many nanoseconds.
    private static let freshness: Int64 = 10_000_000_000
    /// Time constants in seconds: of the mean, of the unrest, and of the direction that turning is measured by.
    private static let meanTime = 2.0
    private static let unrestTime = 4.0
    private static let directionTime = 15.0

    private var counter = StepCounter()
    private var unit = AccelerationUnit()
    private var last: Int64?
    private var late = 0
    private var second = 0.0
    private var known = 0.0
    private var mean = Vector.zero
    private var unrest = 0.0
    private var direction = Vector.zero
    private var speed: (value: Double, time: Int64)?
    private var given = ActivityClass.unknown
    private var candidate = ActivityClass.unknown
    private var agreed = 0
    private var quiet = ActivityDerivation.every

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        inputs = ["accelerometer", "location"].map { settings.name($0) }
        outputs = [settings.stream("activity")]
    }

    /// Takes accelerations in any unit, and speeds in m/s.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        if batch.stream.name == inputs[1] { return takeSpeeds(batch) }
        guard batch.stream.name == inputs[0], let axes = Axes(batch.stream) else { return }
        for row in 0..<batch.count {
            guard let a = axes.read(batch.values, row) else { continue }
            take(batch.times[row].nanoseconds, Vector(a.x, a.y, a.z), into: &output)
        }
    }

    private mutating func takeSpeeds(_ batch: SampleBatch) {
        guard let place = batch.stream.fields.firstIndex(where: { $0.name.text == "speed" }) else { return }
        for row in 0..<batch.count {
            guard let value = batch.values[row * batch.stream.fields.count + place].real, (0...150).contains(value)
            else { continue }
            let time = batch.times[row].nanoseconds
            if let speed, speed.time > time { continue }
            speed = (value, time)
        }
    }

    private mutating func take(_ time: Int64, _ value: Vector, into output: inout DerivedSamples) {
        var seconds = last.map { Double(time &- $0) * 1e-9 } ?? 0
        if seconds < 0 {
            late += 1
            guard late >= 50 else { return }
            seconds = .infinity
        }
        late = 0
        last = time
        counter.add(time, value.x, value.y, value.z) { _ in }
        unit.add(value.length, seconds: seconds)
        guard let factor = unit.factor, seconds <= 1 else {
            known = 0
            return decide(.unknown, 0, time, into: &output)
        }
        follow(value * (factor / 9.80665), seconds)
        second += seconds
        guard second >= 1 else { return }
        second -= 1
        guard known >= ActivityDerivation.unrestTime else { return }
        var evidence = ActivityEvidence()
        evidence.cadence = counter.cadence
        evidence.strength = counter.regularity.strength
        evidence.unrest = unrest.squareRoot()
        if known > 2 * ActivityDerivation.directionTime {
            let turned = mean.dot(direction) / max(1e-9, mean.length * direction.length)
            evidence.turning = acos(max(-1, min(1, turned)))
        }
        if let speed, (time &- speed.time).magnitude <= ActivityDerivation.freshness.magnitude {
            evidence.speed = speed.value
        }
        let (found, confidence) = ActivityJudge.judge(evidence)
        agreed = found == candidate ? agreed + 1 : 1
        candidate = found
        quiet += 1
        guard agreed >= ActivityDerivation.agreement else { return }
        decide(found, confidence, time, into: &output)
    }

    private mutating func follow(_ value: Vector, _ seconds: Double) {
        guard known > 0 else {
            known = max(seconds, 1e-6)
            mean = value
            direction = value
            unrest = 0
            return
        }
        known += seconds
        mean += (value - mean) * (1 - exp(-seconds / min(known, ActivityDerivation.meanTime)))
        direction += (value - direction) * (1 - exp(-seconds / ActivityDerivation.directionTime))
        let away = value - mean
        unrest += (away.dot(away) - unrest) * (1 - exp(-seconds / min(known, ActivityDerivation.unrestTime)))
    }

    private mutating func decide(
        _ found: ActivityClass,
        _ confidence: Double,
        _ time: Int64,
        into output: inout DerivedSamples
    ) {
        guard found != given || quiet >= ActivityDerivation.every else { return }
        given = found
        quiet = 0
        output.append(0, time: Timestamp(nanoseconds: time), [.text(found.rawValue), Value(confidence)])
    }
}
