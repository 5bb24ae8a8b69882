/// The newest keys of what was stored, so that what is sent again is known. Bounded: the oldest make room.
struct RecentKeys: Sendable {
    private var known: Set<UInt64> = []
    private var order: [UInt64] = []
    private var next = 0
    private let capacity: Int

    init(capacity: Int = 32_768) {
        self.capacity = capacity
    }

    func contains(_ key: UInt64) -> Bool { known.contains(key) }

    mutating func insert(_ key: UInt64) {
        guard known.insert(key).inserted else { return }
        guard order.count == capacity else {
            order.append(key)
            return
        }
        known.remove(order[next])
        order[next] = key
        next = (next + 1) % capacity
    }

    /// A key that is the same for the same parts, within one run of the program.
    static func key(_ parts: AnyHashable?...) -> UInt64 {
        var hasher = Hasher()
        for part in parts { hasher.combine(part) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
