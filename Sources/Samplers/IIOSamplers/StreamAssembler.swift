internal import KernelFiles
internal import Samples

/// Makes the values of one stream out of the numbers of its channels. It keeps what must be remembered from one sample to
/// the next.
struct StreamAssembler {
    /// Light beyond this is suspect: the sun at noon gives about half of it.
    static let brightest = 200_000.0

    let plan: StreamPlan
    private let matrix: MountMatrix?
    /// What the user multiplies readings with, where the driver is wrong.
    private let correction: Double
    private var near: NearSwitch?
    private var steps = StepTotal()
    /// What was wrong with numbers since `takeProblem` was asked.
    private var bad = 0
    private var example = ""

    init(_ plan: StreamPlan, matrix: MountMatrix?, correction: Double, nearLevel: Double?) {
        self.plan = plan
        self.matrix = matrix == .identity ? nil : matrix
        self.correction = correction
        near = nearLevel.flatMap { NearSwitch(level: $0) }
    }

    /// The values for numbers that offset and scale were applied to, NaN where there is none; nil when nothing is known.
    mutating func values(_ numbers: [Double]) -> [Value]? {
        precondition(numbers.count == plan.width, "each channel has its numbers")
        switch plan.shape {
        case .plain: return plain(numbers)
        case .proximity:
            guard numbers[0].isFinite else { return nil }
            return [near?.isNear(numbers[0]).map { .flag($0) } ?? .missing, .real(numbers[0])]
        case .steps:
            guard let count = Int64(exactly: numbers[0].rounded()), count >= 0 else { return nil }
            return [.integer(steps.total(count))]
        case .quaternion: return quaternion(numbers)
        case .heading:
            guard numbers[0].isFinite else { return nil }
            let turn = numbers[0].truncatingRemainder(dividingBy: 360)
            return [.real(turn < 0 ? turn + 360 : turn), .missing]
        }
    }

    /// How many numbers were unusable since the last call, with one of them.
    mutating func takeProblem() -> (count: Int, example: String)? {
        guard bad > 0 else { return nil }
        defer { bad = 0 }
        return (bad, example)
    }

    private mutating func plain(_ numbers: [Double]) -> [Value]? {
        var values: [Value] = []
        values.reserveCapacity(numbers.count)
        var hasValue = false
        var vector = numbers
        if let matrix, plan.kind.isVector, numbers.count == 3, isXYZ {
            (vector[0], vector[1], vector[2]) = matrix.apply(numbers[0], numbers[1], numbers[2])
        }
        for (place, number) in vector.enumerated() {
            var value = number * plan.kind.factor * correction
            guard !value.isNaN else {
                values.append(.missing)
                continue
            }
            if !plan.kind.range.contains(value) {
                note("\(plan.stream.fields[place].name) \(value): no such sensor can read that")
                values.append(.missing)
                continue
            }
            if plan.kind.stream == "light", value > StreamAssembler.brightest {
                note(
                    "\(value) lx, brighter than the sun; taken as \(StreamAssembler.brightest). Set factor if the scale is wrong"
                )
                value = StreamAssembler.brightest
            }
            values.append(.real(value))
            hasValue = true
        }
        return hasValue ? values : nil
    }

    private var isXYZ: Bool { plan.stream.fields.map(\.name.text) == ["x", "y", "z"] }

    /// The kernel gives x, y, z, w. Roll, pitch and yaw turn about x, y and z, applied in the order yaw, pitch, roll.
    private mutating func quaternion(_ numbers: [Double]) -> [Value]? {
        let length = (numbers.reduce(0) { $0 + $1 * $1 }).squareRoot()
        guard length.isFinite, length > 1e-9 else {
            if !length.isNaN { note("a rotation of length \(length)") }
            return nil
        }
        let (x, y, z, w) = (numbers[0] / length, numbers[1] / length, numbers[2] / length, numbers[3] / length)
        let angles = EulerAngles(w: w, x: x, y: y, z: z)
        return [w, x, y, z, angles.roll, angles.pitch, angles.yaw].map { Value($0) }
    }

    private mutating func note(_ text: String) {
        bad += 1
        example = text
    }
}
