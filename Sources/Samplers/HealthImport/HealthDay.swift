/// What an export says about one day.
public struct HealthDay: Sendable, Hashable {
    /// The day.
    public let day: LocalDay
    /// When it began, in seconds since 1970.
    public let start: Int64
    /// When it ended, in seconds since 1970.
    public let end: Int64
    /// All sources together: where they overlap in time, only the one that is believed most.
    public internal(set) var merged = HealthTotals()
    /// Each source for itself, by its place in the list of sources.
    public internal(set) var bySource: [Int: HealthTotals] = [:]
}

/// Sums over a day: of one source, or of several merged.
public struct HealthTotals: Sendable, Hashable {
    /// Steps; nil when none were recorded.
    public private(set) var steps: Double?
    /// Metres; nil when none were recorded.
    public private(set) var distance: Double?
    /// Floors climbed; nil when none were recorded.
    public private(set) var floors: Double?
    /// The heart rate; nil when it was not measured.
    public private(set) var heartRate: HealthHeartRate?

    /// The total of a quantity; of the heart rate the mean.
    public subscript(quantity: HealthQuantity) -> Double? {
        switch quantity {
        case .steps: steps
        case .distance: distance
        case .floors: floors
        case .heartRate: heartRate?.mean
        }
    }

    mutating func add(_ amount: Double, of quantity: HealthQuantity) {
        switch quantity {
        case .steps: steps = (steps ?? 0) + amount
        case .distance: distance = (distance ?? 0) + amount
        case .floors: floors = (floors ?? 0) + amount
        case .heartRate:
            var rate = heartRate ?? HealthHeartRate()
            rate.add(amount)
            heartRate = rate
        }
    }
}

/// What was measured of the heart rate in a day, in beats a minute.
public struct HealthHeartRate: Sendable, Hashable {
    /// The number of measurements.
    public private(set) var count = 0
    /// The lowest.
    public private(set) var lowest = Double.infinity
    /// The highest.
    public private(set) var highest = -Double.infinity
    private var sum = 0.0

    /// The mean of all measurements.
    public var mean: Double { sum / Double(max(count, 1)) }

    mutating func add(_ value: Double) {
        count += 1
        lowest = min(lowest, value)
        highest = max(highest, value)
        sum += value
    }
}
