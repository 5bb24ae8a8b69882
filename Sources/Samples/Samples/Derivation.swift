public import Diagnostics

/// Makes samples of new streams from samples of others.
///
/// It is pure and streaming: no clock, no file, no thread, bounded memory. Only the times in the samples count, so a
/// recording replayed gives what the live source gave, and a late sample never triggers a live event.
public protocol Derivation: Sendable {
    /// The `kind` of its `[[derivation]]` table.
    var kind: String { get }

    /// The names of the streams it takes. A second device of a kind is a second derivation.
    var inputs: [Name] { get }

    /// Every stream it may produce; `DerivedSamples` goes by their places.
    var outputs: [Stream] { get }

    /// Takes samples of one of its inputs; those of other streams are ignored.
    mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples)

    /// Takes note that time has come to `time` although no sample says so: what was waited for did not come.
    ///
    /// A live source calls it about once a second, with a time that is so far back that nothing earlier is on its way.
    mutating func advance(to time: Timestamp, into output: inout DerivedSamples)

    /// Takes note that no sample will follow, at the end of a recording: what waited for more is given out.
    mutating func finish(into output: inout DerivedSamples)

    /// The totals so far, by the names of the replay's summary.
    var summary: [(name: String, value: Value)] { get }

    /// What it must know after a restart, or nil when it starts afresh.
    var state: [UInt8]? { get }

    /// Takes what `state` gave before the restart; what it cannot read is ignored.
    mutating func restore(_ state: [UInt8])
}

extension Derivation {
    /// Waits for nothing.
    public mutating func advance(to time: Timestamp, into output: inout DerivedSamples) {}

    /// Gives nothing more out: right where nothing waits.
    public mutating func finish(into output: inout DerivedSamples) {}

    /// No totals.
    public var summary: [(name: String, value: Value)] { [] }

    /// Nothing to know after a restart.
    public var state: [UInt8]? { nil }

    /// Nothing was kept.
    public mutating func restore(_ state: [UInt8]) {}
}

/// Collects what a derivation gives out: one batch for each of its streams.
public struct DerivedSamples: Sendable {
    /// When the samples that are worked on reached us; what is derived from them has the same arrival.
    public var arrival: BootInstant {
        didSet { for place in batches.indices { batches[place].arrival = arrival } }
    }
    private let streams: [Stream]
    private var batches: [SampleBatch]

    /// Makes a collector for the outputs of a derivation.
    public init(_ streams: [Stream], arrival: BootInstant = BootInstant(nanoseconds: 0)) {
        self.streams = streams
        self.arrival = arrival
        batches = streams.map { SampleBatch($0, arrival: arrival) }
    }

    /// Adds a sample to the stream at `place` of the derivation's outputs.
    public mutating func append(_ place: Int, time: Timestamp, _ values: [Value]) {
        batches[place].append(time: time, values)
    }

    /// Adds a sample of three numbers to the stream at `place` of the derivation's outputs.
    public mutating func append(_ place: Int, time: Timestamp, axes: SIMD3<Double>) {
        batches[place].append(time: time, axes: axes)
    }

    /// Whether there is nothing.
    public var isEmpty: Bool { batches.allSatisfy(\.isEmpty) }

    /// Takes out what was collected, without empty batches.
    public mutating func take() -> [SampleBatch] {
        var taken: [SampleBatch] = []
        for place in batches.indices where !batches[place].isEmpty {
            taken.append(batches[place])
            let count = batches[place].count
            batches[place] = SampleBatch(streams[place], arrival: arrival)
            // The next batch will be about as long.
            batches[place].reserveCapacity(count)
        }
        return taken
    }
}
