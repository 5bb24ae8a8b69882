/// How the samples of a window become one value.
public enum Reduction: String, Sendable, Hashable, CaseIterable {
    /// The value with the latest time. The only one for words; also for flags and numbers.
    case last
    /// The arithmetic mean.
    case mean
    /// The smallest value.
    case min
    /// The largest value.
    case max
    /// The middle value: exact up to `MedianSketch.exact` samples, then close (see there).
    case median
    /// The root of the mean of the squares.
    case rms
    /// The standard deviation of the window itself (divided by n): 0 for a single sample.
    case stddev
    /// The sum.
    case sum
    /// How many samples had a value.
    case count
    /// The change since the last value of the window before; in the first window, since its own first value.
    case delta

    /// Whether it can only be taken of numbers (a flag counts as 0 or 1).
    public var needsNumbers: Bool { self != .last && self != .count }
}
