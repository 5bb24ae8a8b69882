internal import Derivations
internal import Diagnostics
internal import Samples

/// The derivations that the configuration asks for, between the sources and everything else. A value: it reads no clock.
struct DerivedStreams {
    private var chain = DerivationChain([])
    private var written: [Configuration.Derived] = []
    /// What is kept outside sessions, too, so that past intervals can be asked for.
    private(set) var kept: Set<Name> = []

    /// Every stream that may come.
    var streams: [Stream] { chain.streams }

    /// Puts other derivations in place; when nothing changed those that run go on.
    ///
    /// `states` are what was known before a restart, by `key`.
    mutating func replace(
        _ derivations: [any Derivation],
        written: [Configuration.Derived],
        states: [String: [UInt8]]
    ) {
        let old = self.written
        let same =
            old.count == written.count
            && zip(old, written).allSatisfy { $0.kind == $1.kind && $0.settings == $1.settings }
        kept = Set(zip(derivations, written).filter { $1.always }.flatMap { $0.0.outputs.map(\.name) })
        self.written = written
        guard !same else { return }
        let running = self.states
        chain = DerivationChain(derivations)
        for (place, derivation) in derivations.enumerated() {
            let key = Self.key(derivation)
            if let state = running[key] ?? states[key] { chain.restore(state, at: place) }
        }
    }

    /// What each must know after a restart, by its key.
    var states: [String: [UInt8]] {
        var states: [String: [UInt8]] = [:]
        for derivation in chain.derivations {
            if let state = derivation.state { states[Self.key(derivation)] = state }
        }
        return states
    }

    /// Names a derivation by what it gives out: a second device of a kind is another one.
    private static func key(_ derivation: any Derivation) -> String {
        "\(derivation.kind) \(derivation.outputs.first?.name.text ?? "")"
    }

    mutating func receive(_ batch: SampleBatch) -> [SampleBatch] { chain.receive(batch) }

    mutating func advance(to time: Timestamp) -> [SampleBatch] { chain.advance(to: time) }

    /// The streams that derivations with `always` need, and those of `others`, directly or through derivations.
    static func needed(
        _ derivations: [any Derivation],
        _ written: [Configuration.Derived],
        also others: Set<Name> = []
    ) -> Set<Name> {
        var needed = others.union(zip(derivations, written).filter { $1.always }.flatMap { $0.0.inputs })
        var before = -1
        while needed.count != before {
            before = needed.count
            for derivation in derivations where derivation.outputs.contains(where: { needed.contains($0.name) }) {
                needed.formUnion(derivation.inputs)
            }
        }
        return needed
    }
}
