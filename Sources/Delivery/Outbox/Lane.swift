internal import DataPoints

/// What became of the points of a lane, as it stands in the file. A plain value without heap storage.
struct Tally: Hashable {
    var accepted: Int64 = 0
    var confirmed: Int64 = 0
    var refused: Int64 = 0
    var doubt: Int64 = 0
    var bytes: Int64 = 0
    /// By the code of the cause.
    var evicted = SIMD8<Int64>()
    /// By the code of the state.
    var rows = SIMD8<Int64>()
    /// Points that the salvage of a damaged file has yet to find.
    var missing: Int64 = 0

    var pending: Int64 { rows.wrappedSum() }
}

/// The points of one feed and one priority: what counts and indexes are kept by.
struct Lane {
    struct Key: Hashable {
        let feed: FeedKey
        let priority: UInt8
    }

    /// One more than its place in the list of lanes.
    let number: Int64
    let key: Key
    var tally = Tally()
    /// Whether the file has yet to learn of a change.
    var isChanged = false

    var feed: FeedKey { key.feed }
    var priority: UInt8 { key.priority }
}
