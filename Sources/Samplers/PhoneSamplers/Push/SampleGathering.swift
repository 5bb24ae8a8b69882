internal import Diagnostics
internal import Samples

/// What a decoder finds in one message: samples by stream, what could not be used, and what was there before.
struct SampleGathering: Sendable {
    /// What could not be used, with one of it as an example.
    struct Reject: Sendable, Equatable {
        var count: Int
        var stream: Name
        var example: String
    }

    private(set) var batches: [SampleBatch] = []
    private(set) var rejects: [Reject] = []
    private(set) var duplicates: [Name: Int] = [:]
    /// The keys of what is new in this message, to be remembered once it is stored.
    private(set) var keys: Set<UInt64> = []
    private let seen: RecentKeys
    private let arrival: BootInstant
    private let times: ClosedRange<Int64>
    private var places: [Name: Int] = [:]

    init(_ message: PushMessage, seen: RecentKeys) {
        self.seen = seen
        arrival = message.arrival
        times = SampleGathering.plausibleTimes(at: message.wall)
    }

    /// The times that a sample may have: not before 2005, when no such phone was, and no more than a day ahead.
    ///
    /// While this machine's own clock is plainly wrong, anything before 2100 will do.
    static func plausibleTimes(at wall: Timestamp) -> ClosedRange<Int64> {
        let (first, right, last): (Int64, Int64, Int64) = (1_104_537_600, 1_577_836_800, 4_102_444_800)
        let second: Int64 = 1_000_000_000
        let limit = wall.nanoseconds < right * second ? last * second : (wall + .seconds(86_400)).nanoseconds
        return first * second...max(limit, first * second)
    }

    /// Whether something with this key has not come before; if so it is remembered.
    mutating func isNew(_ key: UInt64, of stream: Name? = nil) -> Bool {
        if !seen.contains(key), keys.insert(key).inserted { return true }
        if let stream { duplicates[stream, default: 0] += 1 }
        return false
    }

    /// Counts a sample that says nothing new.
    mutating func skip(_ stream: Name) {
        duplicates[stream, default: 0] += 1
    }

    /// Adds a sample; one with an impossible time, or without any value, is rejected.
    mutating func add(_ stream: Samples.Stream, _ time: Timestamp, _ values: [Value]) {
        guard times.contains(time.nanoseconds) else {
            return reject(stream.name, "the time \(time.nanoseconds) ns")
        }
        guard values.contains(where: { $0 != .missing }) else { return reject(stream.name, "a sample without a value") }
        // Apps know nothing of fields that a known stream has beyond theirs.
        let missing = stream.fields.count - values.count
        let whole = missing > 0 ? values + Array(repeating: Value.missing, count: missing) : values
        batches[place(of: stream)].append(time: time, whole)
    }

    /// Adds many samples at once, values row by row; those with an impossible time are rejected.
    mutating func add(_ stream: Samples.Stream, times all: [Timestamp], values: [Value]) {
        guard !all.isEmpty else { return }
        let width = stream.fields.count
        let place = place(of: stream)
        if batches[place].isEmpty, all.allSatisfy({ times.contains($0.nanoseconds) }) {
            batches[place] = SampleBatch(stream, arrival: arrival, times: all, values: values)
            return
        }
        for (row, time) in all.enumerated() {
            if times.contains(time.nanoseconds) {
                batches[place].append(time: time, values[row * width..<(row + 1) * width])
            } else {
                reject(stream.name, "the time \(time.nanoseconds) ns")
            }
        }
    }

    /// Counts something that could not be used.
    mutating func reject(_ stream: Name, _ example: String, count: Int = 1) {
        if let index = rejects.firstIndex(where: { $0.stream == stream }) {
            rejects[index].count += count
        } else {
            rejects.append(Reject(count: count, stream: stream, example: String(example.prefix(200))))
        }
    }

    /// Puts the samples of each stream in the order of their times, and leaves out what says the same of one moment.
    mutating func finish() {
        batches.removeAll(where: \.isEmpty)
        for index in batches.indices {
            let batch = batches[index]
            guard let (sorted, equal) = SampleGathering.sorted(batch) else { continue }
            batches[index] = sorted
            if equal > 0 { duplicates[batch.stream.name, default: 0] += equal }
        }
    }

    /// The batch in order, and how many equal rows it lost; nil when it is as it should be.
    private static func sorted(_ batch: SampleBatch) -> (SampleBatch, Int)? {
        let times = batch.times
        var isOrdered = true
        for row in times.indices.dropFirst() where times[row] <= times[row - 1] {
            isOrdered = false
            break
        }
        guard !isOrdered else { return nil }
        // Rows of one time stay in the order in which they came.
        let order = times.indices.sorted { times[$0] == times[$1] ? $0 < $1 : times[$0] < times[$1] }
        var result = SampleBatch(batch.stream, arrival: batch.arrival)
        result.reserveCapacity(times.count)
        var equal = 0
        var sameTime: [Int] = []
        for row in order {
            if let first = sameTime.first, times[first] != times[row] { sameTime = [] }
            let values = batch.sample(row)
            if sameTime.suffix(8).contains(where: { batch.sample($0).elementsEqual(values) }) {
                equal += 1
                continue
            }
            sameTime.append(row)
            result.append(time: times[row], values)
        }
        return (result, equal)
    }

    private mutating func place(of stream: Samples.Stream) -> Int {
        if let place = places[stream.name] {
            if batches[place].stream == stream { return place }
            // The stream has got more fields within the message.
            if batches[place].isEmpty {
                batches[place] = SampleBatch(stream, arrival: arrival)
                return place
            }
        }
        places[stream.name] = batches.count
        batches.append(SampleBatch(stream, arrival: arrival))
        return batches.count - 1
    }
}
