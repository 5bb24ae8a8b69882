internal import Diagnostics
public import Samples

/// How much higher one is than at the start, from `pressure`: the stream `altitude`, at most once a second.
///
/// Right over minutes: weather moves it by up to 8 m an hour. Each sample is the mean over a second; a pressure that cannot
/// be one, or a single one far from its neighbours, does not count.
public struct AltitudeDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "altitude"
    /// What can be set: which device.
    public static let keys = ["device"]

    /// The name of the kind.
    public var kind: String { AltitudeDerivation.kind }
    /// `pressure`.
    public let inputs: [Name]
    /// `altitude`.
    public let outputs: [Stream]

    private var clock = EventClock()
    private var median = MedianOfThree()
    private var start: Double?
    /// The running second: its begin, the heights in it and how many.
    private var second: (begin: Int64, sum: Double, count: Int)?
    private var stuck = StuckValue(patience: 3_600)
    private var isUnknown = false

    private static let length: Int64 = 1_000_000_000

    /// Makes it.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        inputs = [settings.name("pressure")]
        outputs = [settings.stream("altitude")]
    }

    /// Takes pressures in hPa, also when they are said in kPa or Pa.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0],
            let field = batch.stream.fields.firstIndex(where: { $0.name.text == "value" })
        else { return }
        for row in 0..<batch.count {
            guard let given = batch.value(row: row, field: field).real,
                let pressure = PressureHeight.hectopascals(given)
            else { continue }
            let time = batch.times[row].nanoseconds
            switch clock.take(time, arrival: batch.arrival) {
            case .late: continue
            case .setBack: restart()
            case .next: break
            }
            guard !stuck.add(pressure, at: time) else {
                if !isUnknown { output.append(0, time: batch.times[row], [.missing]) }
                isUnknown = true
                restart()
                continue
            }
            isUnknown = false
            guard let middle = median.add(pressure) else { continue }
            take(PressureHeight.metres(middle), time, into: &output)
        }
    }

    private mutating func take(_ height: Double, _ time: Int64, into output: inout DerivedSamples) {
        let begin = second?.begin ?? time &- AltitudeDerivation.length
        let sum = (second?.sum ?? 0) + height
        let count = (second?.count ?? 0) + 1
        guard time &- begin >= AltitudeDerivation.length else {
            second = (begin, sum, count)
            return
        }
        second = (time, 0, 0)
        let mean = sum / Double(count)
        let start = self.start ?? mean
        self.start = start
        output.append(0, time: Timestamp(nanoseconds: time), [Value(mean - start)])
    }

    private mutating func restart() {
        second = nil
        median = MedianOfThree()
    }
}
