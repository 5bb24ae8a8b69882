/// One thing that is wrong with a configuration: where, what, and what to do.
public struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file, as the user named it.
    public var file: String
    /// The line, from 1; 0 when it is about the whole file.
    public var line: Int
    /// The column, from 1; 0 when it is about the whole line or file.
    public var column: Int
    /// One sentence for a person.
    public var text: String

    /// `feedbridge.toml:12:1: unknown key …`.
    public var description: String {
        line == 0 ? "\(file): \(text)" : "\(file):\(line):\(column): \(text)"
    }
}

/// Everything that is wrong with a configuration.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// In the order of the file. At least one.
    public var problems: [ConfigurationProblem]

    /// One line a problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
