internal import Diagnostics
internal import Samples

/// What waits for the next commit, bounded by bytes. A value: it holds no lock and reads no clock.
struct SampleBuffer {
    /// Samples, or something to be done between them, in the order of the calls.
    enum Entry {
        case samples(SampleBatch, keepOutside: Bool)
        case start(SessionReason, at: Timestamp)
        case stop(SessionReason, at: Timestamp)
        case mark(String, at: Timestamp)

        /// The time that our clock gave it; that of samples is in the batch.
        var time: Timestamp? {
            switch self {
            case .samples(let batch, _): batch.times.last
            case .start(_, let time), .stop(_, let time), .mark(_, let time): time
            }
        }
    }

    struct Item {
        let entry: Entry
        /// Whether the wall clock was right when it came.
        let isSynchronised: Bool
        let bytes: Int
        /// Whose outcome somebody waits for.
        let ticket: Int?

        /// Whether it is something to be done, and no samples.
        var isControl: Bool {
            if case .samples = entry { false } else { true }
        }
    }

    /// What a receiver has to do after an append.
    enum Action {
        case nothing
        /// The first since the last commit: a commit is to follow within the interval.
        case wake
        /// So much waits that it should be written at once.
        case commitNow
    }

    private let limit: Int
    private(set) var items: [Item] = []
    private(set) var drops: [Name: (stream: Stream, count: Int)] = [:]
    private(set) var totalDrops: [Name: Int] = [:]
    /// Bytes here and in the hands of a commit that has not ended.
    private(set) var bytes = 0
    private var isAwake = false
    private var isUrgent = false
    private var nextTicket = 1
    private(set) var clock = RecorderClock()
    /// Whether commits fail. Then no append asks for one: they are tried again in their own time.
    var isFailing = false
    var isClosed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether less than half of it is taken, so that a source that can wait need not.
    var hasRoom: Bool { bytes < limit / 2 }

    /// An estimate of the memory that a batch takes.
    static func bytes(of batch: SampleBatch) -> Int {
        let row = MemoryLayout<Timestamp>.stride + batch.stream.fields.count * MemoryLayout<Value>.stride
        var bytes = 200 + batch.count * row
        guard batch.stream.fields.contains(where: { $0.kind == .text }) else { return bytes }
        for case .text(let text) in batch.values { bytes += text.utf8.count }
        return bytes
    }

    /// Says whether the wall clock is right; `reading` is what it shows.
    mutating func setClock(isRight: Bool, _ reading: RecorderClock.Reading) -> Action {
        clock.set(isRight: isRight, reading)
        return wakeToFixUp()
    }

    /// The clock at the moment of an append: it may have been set meanwhile.
    mutating func note(_ reading: RecorderClock.Reading) { clock.note(reading) }

    /// What has to be added to the times of this boot that were wrong, once.
    mutating func takeFixUp() -> Duration? { clock.takeFixUp() }

    /// The times are still wrong: the fix-up failed.
    mutating func putBack(fixUp offset: Duration) { clock.putBack(offset) }

    private mutating func wakeToFixUp() -> Action {
        guard clock.isFixUpDue, !isAwake else { return .nothing }
        isAwake = true
        return .wake
    }

    /// Takes a batch, or counts its samples as dropped when there is no room; nil then.
    mutating func append(_ batch: SampleBatch, keepOutside: Bool, waited: Bool) -> (action: Action, ticket: Int?)? {
        let cost = SampleBuffer.bytes(of: batch)
        guard !isClosed, bytes + cost <= limit else {
            // Who waits is told, and keeps what it has.
            if !waited { drop(batch.count, of: batch.stream) }
            return nil
        }
        bytes += cost
        let ticket = waited ? makeTicket() : nil
        items.append(
            Item(
                entry: .samples(batch, keepOutside: keepOutside),
                isSynchronised: clock.isRight(for: batch.times.last),
                bytes: cost,
                ticket: ticket
            )
        )
        if bytes > limit / 4, !isUrgent, !isFailing {
            isUrgent = true
            isAwake = true
            return (.commitNow, ticket)
        }
        guard !isAwake else { return (.nothing, ticket) }
        isAwake = true
        return (.wake, ticket)
    }

    /// Takes something to be done; there is always room for it.
    mutating func append(_ entry: Entry) -> Int {
        let ticket = makeTicket()
        items.append(Item(entry: entry, isSynchronised: clock.isRight(for: entry.time), bytes: 0, ticket: ticket))
        return ticket
    }

    /// Counts samples that were not taken; they are written down with the next commit.
    mutating func drop(_ count: Int, of stream: Stream) {
        guard count > 0 else { return }
        drops[stream.name, default: (stream, 0)].count += count
        totalDrops[stream.name, default: 0] += count
    }

    /// Hands everything over to a commit. Its bytes count until `release`.
    mutating func take() -> (items: [Item], drops: [Name: (stream: Stream, count: Int)]) {
        let taken = (items, drops)
        items = []
        drops = [:]
        isAwake = false
        isUrgent = false
        return taken
    }

    /// Gives back the room of what was written or given up.
    mutating func release(_ bytes: Int) {
        self.bytes -= bytes
    }

    private mutating func makeTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }
}
