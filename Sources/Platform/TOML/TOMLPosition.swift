/// A place in a TOML text: line and column, counted from 1 in characters; 0 where none is known.
public struct TOMLPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int

    /// Makes a place.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether `left` stands before `right`.
    public static func < (left: TOMLPosition, right: TOMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `line:column`, as compilers write it.
    public var description: String { "\(line):\(column)" }
}
