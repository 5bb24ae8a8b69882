/// A value that never changes although every sensor has noise.
struct StuckValue: Sendable {
    private let patience: Int64
    private var value: Double?
    private var since: Int64 = 0
    private var count = 0

    /// So many equal values at least, however long it took.
    private static let least = 30

    /// Makes it; after `patience` seconds a value is stuck.
    init(patience: Double) {
        self.patience = Int64(patience * 1e9)
    }

    /// Takes the next value; says whether it is stuck.
    mutating func add(_ next: Double, at time: Int64) -> Bool {
        guard next == value, time >= since else {
            value = next
            since = time
            count = 1
            return false
        }
        count += 1
        return count >= StuckValue.least && time &- since >= patience
    }
}
