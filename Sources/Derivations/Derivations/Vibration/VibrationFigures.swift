internal import Glibc

/// What a window of accelerations says about a machine.
struct VibrationFigures: Sendable, Equatable {
    /// The root mean square without the mean, over all axes, in m/s^2.
    var rms: Double
    /// The largest distance from the mean, in m/s^2.
    var peak: Double
    /// Peak by root mean square; nil at rest.
    var crest: Double?
    /// The strongest frequency in Hz; nil when nothing stands out of the noise.
    var frequency: Double?
    /// The root mean square of the speed in mm/s, from the lowest to the highest frequency that counts (ISO 20816: 10 to
    /// 1,000 Hz).
    var velocity: Double
    /// The root mean square of each band in m/s^2.
    var bands: [Double]
}

/// Computes figures of windows: Hann, then the powers of all axes together.
struct VibrationAnalyser: Sendable {
    let size: Int
    private let bands: [ClosedRange<Double>]
    private let lowest: Double
    private let highest: Double
    private var spectrum: RealSpectrum
    private let window: [Double]
    private let windowPower: Double
    private var powers: [Double]
    private var scratch: [Double]

    /// A frequency counts as one when its bin is so much stronger than the median.
    private static let outstanding = 16.0

    init(size: Int, bands: [ClosedRange<Double>], velocity: ClosedRange<Double>) {
        self.size = size
        self.bands = bands
        lowest = velocity.lowerBound
        highest = velocity.upperBound
        spectrum = RealSpectrum(size: size)
        // The periodic form, as numpy.hanning(size + 1)[:-1].
        window = (0..<size).map { 0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(size)) }
        windowPower = window.reduce(0) { $0 + $1 * $1 }
        powers = Array(repeating: 0, count: size / 2 + 1)
        scratch = Array(repeating: 0, count: size)
    }

    /// The figures of `axes` (each with `size` values) sampled `rate` times a second.
    mutating func figures(_ axes: [[Double]], rate: Double) -> VibrationFigures {
        for place in powers.indices { powers[place] = 0 }
        var squares = Array(repeating: 0.0, count: size)
        for axis in axes {
            let mean = axis.reduce(0, +) / Double(size)
            for place in 0..<size {
                let value = axis[place] - mean
                squares[place] += value * value
                scratch[place] = value * window[place]
            }
            spectrum.add(scratch, to: &powers)
        }
        let rms = (squares.reduce(0, +) / Double(size)).squareRoot()
        let peak = (squares.max() ?? 0).squareRoot()
        // Mean square of a bin: both halves of the spectrum, and what the window took away.
        let scale = 2 / (Double(size) * windowPower)
        let step = rate / Double(size)
        var velocity = 0.0
        var sums = Array(repeating: 0.0, count: bands.count)
        for bin in 1..<powers.count {
            let frequency = Double(bin) * step
            let square = powers[bin] * scale * (bin == size / 2 ? 0.5 : 1)
            if frequency >= lowest, frequency <= highest {
                let turn = 2 * .pi * frequency
                velocity += square / (turn * turn)
            }
            for (place, band) in bands.enumerated() where band.contains(frequency) { sums[place] += square }
        }
        return VibrationFigures(
            rms: rms,
            peak: peak,
            crest: rms > 0 ? peak / rms : nil,
            frequency: dominant.map { $0 * step },
            velocity: velocity.squareRoot() * 1_000,
            bands: sums.map { $0.squareRoot() }
        )
    }

    /// The strongest bin, between the bins by a parabola through the logarithms; nil when none stands out.
    private var dominant: Double? {
        var best = 2
        // Below two bins there is what the window made of the mean.
        for bin in 2..<(powers.count - 1) where powers[bin] > powers[best] { best = bin }
        let sorted = powers[2...].sorted()
        guard powers[best] > VibrationAnalyser.outstanding * sorted[sorted.count / 2], powers[best] > 0 else {
            return nil
        }
        let (left, middle, right) = (log(powers[best - 1] + 1e-300), log(powers[best]), log(powers[best + 1] + 1e-300))
        let curve = left - 2 * middle + right
        guard curve < 0 else { return Double(best) }
        return Double(best) + max(-0.5, min(0.5, 0.5 * (left - right) / curve))
    }
}
