/// Why a text is not TOML: where, and one sentence.
public struct TOMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was read: a file's name.
    public var name: String
    /// Where the fault was seen.
    public var position: TOMLPosition
    /// What is wrong, as a part of a sentence: no capital, no full stop.
    public var message: String

    /// Makes an error.
    public init(name: String, position: TOMLPosition, message: String) {
        self.name = name
        self.position = position
        self.message = message
    }

    /// The line, from 1; 0 where none is known.
    public var line: Int { position.line }

    /// The column, from 1; 0 where none is known.
    public var column: Int { position.column }

    /// `feedbridge.toml:3:7: the text is not TOML: …`
    public var description: String { "\(name):\(position): the text is not TOML: \(message)" }
}
