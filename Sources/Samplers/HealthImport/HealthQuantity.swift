/// What is taken out of a health export; everything else in it is passed over.
public enum HealthQuantity: Int, Sendable, Hashable, CaseIterable {
    /// Steps walked or run.
    case steps
    /// Distance walked or run, in metres.
    case distance
    /// Floors climbed.
    case floors
    /// Heart rate, in beats a minute.
    case heartRate

    /// The word that commands and tables use.
    public var word: String {
        switch self {
        case .steps: "steps"
        case .distance: "distance"
        case .floors: "floors"
        case .heartRate: "heart_rate"
        }
    }

    /// The unit of its values.
    public var unit: String {
        switch self {
        case .steps, .floors: "count"
        case .distance: "m"
        case .heartRate: "1/min"
        }
    }

    /// Whether values of intervals are added up; else each is a measurement of its own.
    var isCumulative: Bool { self != .heartRate }
}

/// One record of an export.
public struct HealthRecord: Sendable, Hashable {
    /// What was measured.
    public var quantity: HealthQuantity
    /// The amount in the quantity's unit.
    public var value: Double
    /// The beginning of the interval, in seconds since 1970.
    public var start: Int64
    /// The end of the interval, in seconds since 1970; not before its beginning.
    public var end: Int64
    /// The place of the source in the list of sources.
    public var source: Int
}
