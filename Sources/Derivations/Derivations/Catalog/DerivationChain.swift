public import Diagnostics
public import Samples

/// Several derivations, of which one may take what another gives out: floors from the steps of a pedometer.
public struct DerivationChain: Sendable {
    /// So many derivations may follow each other; more would be a circle.
    private static let longest = 8

    private var members: [any Derivation]
    private var outputs: [DerivedSamples]

    /// Makes a chain.
    public init(_ derivations: [any Derivation]) {
        members = derivations
        outputs = derivations.map { DerivedSamples($0.outputs) }
    }

    /// The derivations, in their order.
    public var derivations: [any Derivation] { members }

    /// The names of all streams that any of them takes.
    public var inputs: Set<Name> { Set(members.flatMap(\.inputs)) }

    /// Every stream that may be given out.
    public var streams: [Stream] { members.flatMap(\.outputs) }

    /// Takes samples, and gives out all that is derived from them.
    public mutating func receive(_ batch: SampleBatch) -> [SampleBatch] {
        var given: [SampleBatch] = []
        pass([batch], depth: 0, into: &given)
        return given
    }

    /// Takes note that time has come so far, and gives out what follows from that.
    public mutating func advance(to time: Timestamp) -> [SampleBatch] {
        var given: [SampleBatch] = []
        for place in members.indices {
            members[place].advance(to: time, into: &outputs[place])
            let made = outputs[place].take()
            given += made
            pass(made, depth: 1, into: &given)
        }
        return given
    }

    /// Takes note that no sample will follow, and gives out what waited.
    public mutating func finish() -> [SampleBatch] {
        var given: [SampleBatch] = []
        for place in members.indices {
            members[place].finish(into: &outputs[place])
            let made = outputs[place].take()
            given += made
            pass(made, depth: 1, into: &given)
        }
        return given
    }

    private mutating func pass(_ batches: [SampleBatch], depth: Int, into given: inout [SampleBatch]) {
        guard depth < DerivationChain.longest else { return }
        for batch in batches {
            for place in members.indices where members[place].inputs.contains(batch.stream.name) {
                outputs[place].arrival = batch.arrival
                members[place].receive(batch, into: &outputs[place])
                let made = outputs[place].take()
                guard !made.isEmpty else { continue }
                given += made
                pass(made, depth: depth + 1, into: &given)
            }
        }
    }

    /// The totals of all of them.
    public var summary: [(name: String, value: Value)] { members.flatMap(\.summary) }

    /// Takes what the derivation at `place` gave as its state before a restart.
    public mutating func restore(_ state: [UInt8], at place: Int) {
        guard members.indices.contains(place) else { return }
        members[place].restore(state)
    }
}
