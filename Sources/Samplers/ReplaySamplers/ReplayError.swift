/// Why a file cannot be replayed; the text says what is wrong, where, and what to do.
public struct ReplayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: Sendable, Equatable {
        /// It cannot be opened or read.
        case file
        /// Its header is missing or cannot be used.
        case header
    }

    /// What kind of trouble it is.
    public let kind: Kind
    /// The sentence.
    public let description: String

    /// Makes an error.
    public init(kind: Kind, description: String) {
        self.kind = kind
        self.description = description
    }
}
