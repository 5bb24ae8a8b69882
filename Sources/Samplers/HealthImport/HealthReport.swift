/// What an export was found to hold.
public struct HealthReport: Sendable {
    /// Who wrote records, in the order of their first ones.
    public var sources: [HealthSource] = []
    /// The days that have something, the earliest first.
    public var days: [HealthDay] = []
    /// The number of records of each quantity.
    public var records: [HealthQuantity: Int] = [:]
    /// Records of other quantities, passed over.
    public var others = 0
    /// Records that could not be used.
    public var bad = 0
    /// What is wrong with the first of those.
    public var example = ""
    /// Whether the document went to its end; else it was cut off, and what came before is here.
    public var isComplete = false
    /// The bytes of the document.
    public var bytes = 0
}
