/// A document is not well-formed, from this place on.
public struct XMLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int
    /// What is wrong there, in expat's words.
    public let reason: String

    /// Makes an error.
    public init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    /// One sentence.
    public var description: String { "the XML is not well-formed at line \(line), column \(column): \(reason)" }
}
