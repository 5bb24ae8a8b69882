internal import DataPoints
internal import Diagnostics
internal import SQLite

/// A point as its row has it.
struct PointRow {
    var id: Int64
    var lane: Int64 = 0
    var state: PointState
    var attempts: Int64 = 0
    var createdAt: Int64
    var boot: Int64
    /// The boot-time clock at the moment that `createdAt` stands for.
    var bootTime: Int64
    var priority: UInt8
    var feed: FeedKey
    var value: String
    var location: Location?

    /// About what the row and its index entry take on the disk.
    var cost: Int64 { PointRow.cost(feed: feed, value: value) }

    static func cost(feed: FeedKey, value: String) -> Int64 { Int64(feed.text.utf8.count + value.utf8.count + 60) }

    var point: DataPoint {
        DataPoint(feed: feed, value: value, createdAt: Timestamp(nanoseconds: createdAt), location: location)
    }

    var outboxPoint: OutboxPoint {
        OutboxPoint(id: id, point: point, priority: priority, attempts: Int(attempts), state: state)
    }

    /// A sum over all that must not change unseen; SQLite itself does not notice a flipped bit within a value.
    var sum: Int64 {
        var hash = FNV()
        hash.add(id)
        hash.add(createdAt)
        hash.add(bootTime)
        hash.add(Int64(priority))
        hash.add(feed.text)
        hash.add(value)
        if let location {
            hash.add(Int64(bitPattern: location.latitude.bitPattern))
            hash.add(Int64(bitPattern: location.longitude.bitPattern))
            if let elevation = location.elevation { hash.add(Int64(bitPattern: elevation.bitPattern)) }
        }
        return hash.sum
    }

    /// Reads the row that `statement` stands on, its columns as in `OutboxSchema.pointColumns`; nil when its sum is wrong.
    init?(_ statement: Statement) {
        guard let feed = statement.text(at: 9).flatMap(FeedKey.init), let value = statement.text(at: 10),
            let state = PointState(code: Int(statement.integer(at: 2))),
            let priority = UInt8(exactly: statement.integer(at: 7))
        else { return nil }
        id = statement.integer(at: 0)
        lane = statement.integer(at: 1)
        self.state = state
        attempts = statement.integer(at: 3)
        createdAt = statement.integer(at: 4)
        boot = statement.integer(at: 5)
        bootTime = statement.integer(at: 6)
        self.priority = priority
        self.feed = feed
        self.value = value
        if !statement.isNull(at: 11) {
            location = Location(
                latitude: statement.real(at: 11),
                longitude: statement.real(at: 12),
                elevation: statement.isNull(at: 13) ? nil : statement.real(at: 13)
            )
        }
        guard sum == statement.integer(at: 8) else { return nil }
    }

    init(
        id: Int64,
        state: PointState,
        createdAt: Int64,
        boot: Int64,
        bootTime: Int64,
        priority: UInt8,
        feed: FeedKey,
        value: String,
        location: Location?
    ) {
        self.id = id
        self.state = state
        self.createdAt = createdAt
        self.boot = boot
        self.bootTime = bootTime
        self.priority = priority
        self.feed = feed
        self.value = value
        self.location = location
    }

    /// Binds the columns in the order of `OutboxSchema.pointColumns`.
    func bind(to statement: Statement) throws(SQLiteError) {
        try statement.bind(id, at: 1)
        try statement.bind(lane, at: 2)
        try statement.bind(state.code, at: 3)
        try statement.bind(attempts, at: 4)
        try statement.bind(createdAt, at: 5)
        try statement.bind(boot, at: 6)
        try statement.bind(bootTime, at: 7)
        try statement.bind(Int(priority), at: 8)
        try statement.bind(sum, at: 9)
        try statement.bind(feed.text, at: 10)
        try statement.bind(value, at: 11)
        if let location {
            try statement.bind(location.latitude, at: 12)
            try statement.bind(location.longitude, at: 13)
            if let elevation = location.elevation {
                try statement.bind(elevation, at: 14)
            } else {
                try statement.bindNull(at: 14)
            }
        } else {
            for parameter in 12...14 { try statement.bindNull(at: parameter) }
        }
    }
}
