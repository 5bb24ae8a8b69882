/// Why a derivation cannot be made: one sentence that names the setting and what it may be.
public struct DerivationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Makes an error with that sentence.
    public init(_ sentence: String) {
        description = sentence
    }
}
