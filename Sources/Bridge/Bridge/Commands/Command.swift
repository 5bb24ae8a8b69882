public import Diagnostics

/// What every command needs from outside.
public struct CommandContext: Sendable {
    /// `--config FILE`, if it was given.
    public var configurationFile: String?
    /// The environment of the process.
    public var environment: [String: String]
    /// Talk, on stderr.
    public var log: Log
    /// Takes what is data: text for stdout.
    public var output: @Sendable (String) -> Void

    /// Makes a context.
    public init(
        configurationFile: String?,
        environment: [String: String],
        log: Log,
        output: @escaping @Sendable (String) -> Void
    ) {
        self.configurationFile = configurationFile
        self.environment = environment
        self.log = log
        self.output = output
    }

    /// Finds, reads and checks the configuration.
    func configuration() throws(ConfigurationError) -> Configuration {
        try ConfigurationFile.load(try ConfigurationFile.find(configurationFile, environment: environment))
    }
}

/// One of the program's commands, with its arguments. Errors are thrown; the program prints them.
public protocol Command: Sendable {
    /// Does it.
    func run(_ context: CommandContext) async throws
}

/// A command did not do what was asked; one sentence for a person.
public struct CommandError: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// The program's exit code: 1 when it failed, 2 when what was typed cannot be meant.
    public let exitCode: Int32

    /// Makes an error with that sentence.
    public init(_ sentence: String, exitCode: Int32 = 1) {
        description = sentence
        self.exitCode = exitCode
    }
}

/// The program's version.
public enum FeedbridgeVersion {
    /// As `feedbridge --version` shows it.
    public static let text = "0.1.0"
}
