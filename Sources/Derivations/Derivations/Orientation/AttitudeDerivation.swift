internal import Diagnostics
internal import Glibc
public import Samples

/// Device motion from gyroscope, accelerometer and magnetometer: the streams `attitude`, `gravity`, `user_acceleration`,
/// `rotation_rate`, `magnetic_field` and `heading`.
///
/// Sensor to earth, ENU. `gravity` has the accelerometer's sign: `accelerometer` = `gravity` + `user_acceleration`. What
/// cannot be believed is missing: after gaps, with clipped, stuck or contradicting sensors, in unknown units.
public struct AttitudeDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "attitude"
    /// The frame, the declination in degrees (east is positive; else a position tells it), the highest output rate in Hz, and which device.
    public static let keys = ["frame", "declination", "rate", "device"]

    /// The name of the kind.
    public var kind: String { AttitudeDerivation.kind }
    /// The gyroscope, the accelerometer, the magnetometer and the position, in this order.
    public let inputs: [Name]
    /// The six streams.
    public let outputs: [Stream]

    private enum Output {
        static let attitude = 0
        static let gravity = 1
        static let acceleration = 2
        static let rate = 3
        static let field = 4
        static let heading = 5
    }

    private let frame: MotionFrame
    private let isDeclinationSet: Bool
    private var declination: Double?
    private let interval: Int64
    private var merger = SampleMerger(awaited: [true, true, false])
    private var tracker = MotionTracker()
    private var nextOutput = Int64.min
    private var wasKnown = false
    private var firstHeading: Double?

    /// Makes it; `frame` is `auto` when it is not set.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        let words = MotionFrame.allCases.map(\.rawValue)
        frame = MotionFrame(rawValue: try settings.word("frame", of: words, usual: "auto")) ?? .auto
        let usual = Double.nan
        let given = try settings.number("declination", in: -180...180, usual: usual)
        declination = given.isNaN ? nil : given * .pi / 180
        isDeclinationSet = declination != nil
        let rate = try settings.number("rate", in: 0...1_000, usual: 0)
        interval = rate > 0 ? Int64(1e9 / rate) : 0
        inputs = ["gyroscope", "accelerometer", "magnetometer", "location"].map { settings.name($0) }
        outputs = [
            "attitude", "gravity", "user_acceleration", "rotation_rate", "magnetic_field", "heading",
        ].map { settings.stream($0) }
    }

    /// Takes rates in rad/s, accelerations in m/s^2 or g, fields in uT, and positions for true north.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        if batch.stream.name == inputs[3] { return takePlaces(batch) }
        guard let channel = inputs.firstIndex(of: batch.stream.name), let axes = Axes(batch.stream), !axes.isMagnitude
        else { return }
        for row in 0..<batch.count {
            guard let axis = axes.read(batch.values, row) else { continue }
            let value = Vector(axis.x, axis.y, axis.z)
            guard value.dot(value) < 1e10 else { continue }
            if !merger.push(channel, batch.times[row].nanoseconds, value) {
                tracker.restart()
                nextOutput = .min
            }
            while let entry = merger.next() { take(entry, into: &output) }
        }
    }

    /// Takes the last position of a batch: it says how far magnetic north is from true north.
    private mutating func takePlaces(_ batch: SampleBatch) {
        func place(_ name: String) -> Int? { batch.stream.fields.firstIndex { $0.name.text == name } }
        guard frame == .trueNorth, !isDeclinationSet, let lat = place("lat"), let lon = place("lon"), batch.count > 0
        else { return }
        let base = (batch.count - 1) * batch.stream.fields.count
        guard let latitude = batch.values[base + lat].real, let longitude = batch.values[base + lon].real else {
            return
        }
        let year = 1970 + batch.times[batch.count - 1].seconds / (365.2425 * 86_400)
        declination =
            WorldMagneticModel.declination(latitude: latitude, longitude: longitude, year: year) ?? declination
    }

    /// Takes what still waited.
    public mutating func finish(into output: inout DerivedSamples) {
        while let entry = merger.next(isLast: true) { take(entry, into: &output) }
    }

    private mutating func take(_ entry: SampleMerger.Entry, into output: inout DerivedSamples) {
        guard tracker.add(entry) else { return }
        if interval > 0 {
            guard entry.time >= nextOutput else { return }
            nextOutput = nextOutput == .min || entry.time &- nextOutput > interval ? entry.time : nextOutput
            nextOutput = nextOutput &+ interval
        }
        give(Timestamp(nanoseconds: entry.time), into: &output)
    }

    private mutating func give(_ time: Timestamp, into output: inout DerivedSamples) {
        guard tracker.isKnown else {
            // One sample says that it is not known any more.
            if wasKnown {
                for (place, stream) in outputs.enumerated() {
                    output.append(place, time: time, Array(repeating: .missing, count: stream.fields.count))
                }
            }
            wasKnown = false
            return
        }
        wasKnown = true
        let level = tracker.filter.attitude
        if let yaw = heading { giveAttitude(Quaternion.yaw(yaw) * level, time, into: &output) }
        let gravity = level.inverse.rotate(Vector(0, 0, 9.80665))
        output.append(Output.gravity, time: time, axes: gravity)
        output.append(Output.acceleration, time: time, axes: tracker.acceleration - gravity)
        output.append(Output.rate, time: time, axes: tracker.filter.rate)
        guard let magnetic = tracker.magnetic else { return }
        output.append(
            Output.field,
            time: time,
            [Value(magnetic.x), Value(magnetic.y), Value(magnetic.z), .integer(fieldAccuracy)]
        )
        giveHeading(time, into: &output)
    }

    /// From the filter's heading to the frame's; nil while north is not known.
    private var heading: Double? {
        mutating get {
            let offset = tracker.filter.headingOffset
            switch frame {
            case .arbitrary: return 0
            case .auto: return tracker.filter.hasHeading ? offset : 0
            case .magnetic: return tracker.isHeadingKnown ? offset : nil
            case .trueNorth: return tracker.isHeadingKnown ? declination.map { offset - $0 } : nil
            case .corrected:
                guard tracker.isHeadingKnown else { return firstHeading == nil ? 0 : nil }
                let first = firstHeading ?? offset
                firstHeading = first
                return offset - first
            }
        }
    }

    private func giveAttitude(_ attitude: Quaternion, _ time: Timestamp, into output: inout DerivedSamples) {
        let (w, v) = (attitude.w, attitude.v)
        output.append(
            Output.attitude,
            time: time,
            [
                Value(w), Value(v.x), Value(v.y), Value(v.z),
                Value(atan2(2 * (w * v.x + v.y * v.z), 1 - 2 * (v.x * v.x + v.y * v.y))),
                Value(asin(max(-1, min(1, 2 * (w * v.y - v.z * v.x))))),
                Value(atan2(2 * (w * v.z + v.x * v.y), 1 - 2 * (v.y * v.y + v.z * v.z))),
            ]
        )
    }

    /// Where the top of the screen points; held upright, where its back points. Clockwise from north.
    private func giveHeading(_ time: Timestamp, into output: inout DerivedSamples) {
        let turn = frame == .trueNorth ? declination : 0
        guard tracker.isHeadingKnown, let turn else {
            output.append(Output.heading, time: time, [.missing, .missing])
            return
        }
        let north = tracker.filter.headingOffset - turn
        let attitude = Quaternion.yaw(north) * tracker.filter.attitude
        let top = attitude.rotate(Vector(0, 1, 0))
        let pointing = abs(top.z) < 0.707 ? top : attitude.rotate(Vector(0, 0, -1))
        let degrees = atan2(pointing.x, pointing.y) * 180 / .pi
        output.append(
            Output.heading,
            time: time,
            [Value(degrees < 0 ? degrees + 360 : degrees), Value(headingAccuracy)]
        )
    }

    /// In degrees: a calm compass has 5; what it contradicts itself by, and the drift while it is left out, add to it.
    private var headingAccuracy: Double {
        let doubt = min(tracker.filter.headingDoubt, .pi) * 180 / .pi
        let drift = tracker.filter.rejectedTime * tracker.filter.bias.deviation * 180 / .pi
        return min(180, (25 + doubt * doubt + drift * drift).squareRoot())
    }

    /// 0 uncalibrated, 1 low, 2 medium, 3 high, as on a phone.
    private var fieldAccuracy: Int64 {
        guard tracker.isHeadingKnown else { return 0 }
        guard tracker.filter.field.isKnown, !tracker.filter.field.isDisturbed else { return 1 }
        return (25...65).contains(tracker.filter.field.strength) ? 3 : 2
    }

}
