/// Near or far, with a gap between: what moves about the level does not flap.
struct NearSwitch {
    private let level: Double
    private var wasNear: Bool?

    /// Nil for a level that cannot be one.
    init?(level: Double) {
        guard level.isFinite, level > 0 else { return nil }
        self.level = level
    }

    /// Whether `number`, where larger is nearer, means near; nil is never given twice.
    mutating func isNear(_ number: Double) -> Bool? {
        let isNear =
            switch wasNear {
            case true?: number >= level * 0.9
            case false?: number > level * 1.1
            case nil: number >= level
            }
        wasNear = isNear
        return isNear
    }
}

/// A total of steps that goes on when the device's own counter begins again.
struct StepTotal {
    private var base: Int64 = 0
    private var last: Int64 = 0

    /// The total for what the device counts now.
    mutating func total(_ count: Int64) -> Int64 {
        if count < last { base = base.addingReportingOverflow(last).partialValue }
        last = count
        let (sum, overflow) = base.addingReportingOverflow(count)
        return overflow ? .max : sum
    }
}
