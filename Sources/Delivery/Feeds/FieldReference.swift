public import Samples

/// A field of a stream, as a rule names it: `host.load.one_minute`.
public struct FieldReference: Sendable, Hashable, CustomStringConvertible {
    /// The stream.
    public let stream: Name
    /// The field within the stream.
    public let field: Name

    /// Names a field of a stream.
    public init(stream: Name, field: Name) {
        self.stream = stream
        self.field = field
    }

    /// Reads `STREAM.FIELD`; what stands after the last dot is the field. Nil when it has not that form.
    public init?(_ text: String) {
        guard let dot = text.lastIndex(of: "."),
            let stream = Name(String(text[..<dot])),
            let field = Name(String(text[text.index(after: dot)...]))
        else { return nil }
        self.init(stream: stream, field: field)
    }

    /// `STREAM.FIELD`.
    public var description: String { "\(stream).\(field)" }
}
