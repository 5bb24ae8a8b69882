/// The middle one of three values in a row: a single wild one does not count.
struct MedianOfThree: Sendable {
    private var first: Double?
    private var second: Double?

    /// Takes the next value; gives the middle of the last three, or nil before there are three.
    mutating func add(_ value: Double) -> Double? {
        defer {
            first = second
            second = value
        }
        guard let first, let second else { return nil }
        return max(min(first, second), min(max(first, second), value))
    }
}
