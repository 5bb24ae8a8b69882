/// Why an alert cannot be: one sentence that names it and what it may be.
public struct AlertError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Makes an error with that sentence.
    public init(_ sentence: String) {
        description = sentence
    }
}
