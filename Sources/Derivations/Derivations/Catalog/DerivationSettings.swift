/// What a `[[derivation]]` table or `--option KEY=VALUE` says; a key may stand there several times.
public struct DerivationSettings: Sendable, Hashable {
    /// One setting, as it was written.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The value's text.
        public let value: String

        /// Makes an entry.
        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// All entries, in their order.
    public var entries: [Entry]

    /// Makes settings of entries.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// Every value of `key`.
    public func texts(_ key: String) -> [String] {
        entries.filter { $0.key == key }.map(\.value)
    }

    /// The last value of `key`.
    public func text(_ key: String) -> String? {
        entries.last { $0.key == key }?.value
    }

    /// The number of `key`, which must lie in `range`, or `usual` when it is not there.
    public func number(
        _ key: String,
        in range: ClosedRange<Double>,
        usual: Double
    ) throws(DerivationError) -> Double {
        guard let text = text(key) else { return usual }
        guard let number = Double(text), range.contains(number) else {
            throw DerivationError(
                "\(key) is \"\(text)\", but must be a number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return number
    }

    /// The word of `key`, which must be one of `words`, or `usual` when it is not there.
    public func word(_ key: String, of words: [String], usual: String) throws(DerivationError) -> String {
        guard let text = text(key) else { return usual }
        guard words.contains(text) else {
            throw DerivationError("\(key) is \"\(text)\", but must be one of \(words.joined(separator: ", ")).")
        }
        return text
    }

    /// Fails when an entry's key is none of `keys`, those that `kind` understands.
    public func check(against keys: [String], of kind: String) throws(DerivationError) {
        guard let unknown = entries.first(where: { !keys.contains($0.key) }) else { return }
        let known = keys.isEmpty ? "it has none" : "it has \(keys.joined(separator: ", "))"
        throw DerivationError("The derivation \(kind) has no setting \"\(unknown.key)\"; \(known).")
    }
}
