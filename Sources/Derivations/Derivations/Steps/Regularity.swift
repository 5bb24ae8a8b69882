internal import Glibc

/// How regular the last seconds were, and with what period.
struct Regularity: Sendable {
    /// The step's period in grid samples.
    var period = 0.0
    /// The mean of the likeness of neighbouring steps and of neighbouring strides, at most 1.
    var likeness = 0.0
    /// The likeness of neighbouring strides alone.
    var strideLikeness = 0.0
    /// The likeness of neighbouring steps alone.
    var stepLikeness: Double { 2 * likeness - strideLikeness }
    /// Whether something faster than steps repeats: an engine, brushing teeth.
    var isFaster = false
    /// The root mean square of the window.
    var strength = 0.0
}

/// Computes the regularity of a ring of even samples by its autocorrelation.
///
/// The two sides of a body differ, so that only every second step may look alike: both the lag of a step and of a
/// stride count, and a prior of human cadences tells them apart.
struct RegularityMeter: Sendable {
    private let window: Int
    private let shortest: Int
    private let longest: Int
    private let prior: [Float]
    private let octaves: [Float]
    private let fasterShare: Float
    private let tuning: StepTuning
    private var correlation: [Float]

    /// How many samples it looks at.
    let reach: Int

    init(_ tuning: StepTuning) {
        // A whole number of vectors.
        window = Int(tuning.window * tuning.rate) / 8 * 8
        shortest = max(2, Int((tuning.rate / tuning.fastest).rounded(.down)))
        longest = Int((tuning.rate / tuning.slowest).rounded(.up))
        let longestStride = 2 * longest + 2
        fasterShare = Float(tuning.fasterShare)
        reach = window + longestStride + 1
        correlation = Array(repeating: 0, count: longestStride + 2)
        let longest = longest
        let octaves = (0...longest + 1).map { $0 > 0 ? log2(tuning.rate / Double($0) / tuning.usual) : 0 }
        self.octaves = octaves.map { Float($0) }
        prior = octaves.map { octaves in
            let share = octaves / tuning.spread
            return Float(tuning.octaveBonus * octaves - tuning.priorCost * share * share)
        }
        self.tuning = tuning
    }

    /// The regularity of `samples`, whose newest is the last one; there must be at least `reach`.
    mutating func measure(_ samples: UnsafeBufferPointer<Float>) -> Regularity {
        let end = samples.count
        let start = end - window
        let energy = product(samples, start, start)
        var result = Regularity()
        result.strength = Double(energy / Float(window)).squareRoot()
        guard energy > 1e-12 else { return result }
        let last = correlation.count - 1
        var lagged = energy
        for lag in 1...last {
            // The lagged window's energy, moved on by one sample.
            let entering = samples[start - lag]
            let leaving = samples[end - lag]
            lagged += entering * entering - leaving * leaving
            guard lag >= 3 else { continue }
            correlation[lag] = product(samples, start, start - lag) / (energy * max(lagged, 1e-12)).squareRoot()
        }
        let strong = (result.strength - tuning.walkersStrength) / (tuning.runnersStrength - tuning.walkersStrength)
        let intensity = Float(tuning.runnersBonus * max(0, min(1, strong)))
        var best: Float = -.infinity
        var bestLag = 0
        for lag in shortest...longest {
            let stride = max(correlation[2 * lag - 1], correlation[2 * lag], correlation[2 * lag + 1])
            // A stride is a hill, not the slope of a longer one.
            guard stride > correlation[2 * lag - 2], stride > correlation[2 * lag + 2] else { continue }
            let score = 0.5 * (correlation[lag] + stride) + prior[lag] + intensity * octaves[lag]
            if score > best {
                best = score
                bestLag = lag
            }
        }
        guard bestLag > 0 else { return result }
        let step = correlation[bestLag]
        var strideLag = 2 * bestLag
        for lag in (2 * bestLag - 1)...(2 * bestLag + 1) where correlation[lag] > correlation[strideLag] {
            strideLag = lag
        }
        result.strideLikeness = Double(correlation[strideLag])
        result.likeness = 0.5 * Double(step + correlation[strideLag])
        result.period = 0.5 * hill(strideLag)
        // What repeats within a step at less than the shortest period of steps.
        var faster: Float = -1
        if shortest > 4 {
            for lag in 4..<shortest
            where correlation[lag] > correlation[lag - 1] && correlation[lag] >= correlation[lag + 1] {
                faster = max(faster, correlation[lag])
            }
        }
        result.isFaster = faster > fasterShare * max(step, correlation[strideLag])
        return result
    }

    /// The product of the window at `left` with the one at `right`.
    @inline(__always)
    private func product(_ samples: UnsafeBufferPointer<Float>, _ left: Int, _ right: Int) -> Float {
        guard let base = samples.baseAddress else { return 0 }
        var sum = SIMD8<Float>()
        for place in stride(from: 0, to: window, by: 8) {
            let one = UnsafeRawPointer(base + left + place).loadUnaligned(as: SIMD8<Float>.self)
            let other = UnsafeRawPointer(base + right + place).loadUnaligned(as: SIMD8<Float>.self)
            sum += one * other
        }
        return sum.sum()
    }

    /// The place of the hill around `lag`, between the lags.
    private func hill(_ lag: Int) -> Double {
        guard lag > shortest, lag < correlation.count - 1 else { return Double(lag) }
        let left = Double(correlation[lag - 1])
        let middle = Double(correlation[lag])
        let right = Double(correlation[lag + 1])
        let curve = left - 2 * middle + right
        guard curve < -1e-9 else { return Double(lag) }
        return Double(lag) + max(-0.5, min(0.5, 0.5 * (left - right) / curve))
    }
}
