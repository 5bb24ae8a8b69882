/// A span of sample time that a rule still fills: from `start`, up to and without `end`, in nanoseconds since 1970.
struct Window: Sendable {
    let start: Int64
    let end: Int64
    /// One for each field of the rule.
    var accumulators: [Accumulator]
    /// The time of the latest sample in it.
    var newest = Int64.min

    /// The window of length `period` that holds `time`; nil at the ends of what nanoseconds can hold.
    init?(holding time: Int64, period: Int64, fields: Int) {
        let remainder = time % period
        let (start, low) = time.subtractingReportingOverflow(remainder < 0 ? remainder + period : remainder)
        let (end, high) = start.addingReportingOverflow(period)
        guard !low, !high else { return nil }
        self.start = start
        self.end = end
        accumulators = Array(repeating: Accumulator(), count: fields)
    }
}
