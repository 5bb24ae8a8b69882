/// A rate from a counter that only grows, except when it wraps or begins again.
struct RateMeter {
    /// No 32-bit counter of a machine that still has one moves faster than a gigabit a second.
    static let fastest = 125_000_000.0

    private var previous: UInt64?

    /// The rate since the last reading; nil for the first one, and for one after which the counter began again.
    ///
    /// A counter that fell either wrapped at 32 bits, which is believed when the rate is possible, or began again.
    mutating func rate(of counter: UInt64, unit: Double = 1, seconds: Double) -> Double? {
        defer { previous = counter }
        guard let previous, seconds > 0 else { return nil }
        if counter >= previous { return Double(counter - previous) * unit / seconds }
        guard previous <= UInt64(UInt32.max) else { return nil }
        let wrapped = Double(counter + (1 << 32) - previous) * unit / seconds
        return wrapped <= RateMeter.fastest ? wrapped : nil
    }

    /// Forgets the last reading.
    mutating func reset() { previous = nil }
}
