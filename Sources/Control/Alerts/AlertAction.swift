public import DataPoints

/// What an alert has done.
public enum AlertAction: Sendable, Hashable {
    /// Publishes a text to a feed; in it `{name}`, `{state}`, `{value}`, `{stream}`, `{field}` and `{time}` are filled in.
    case publish(FeedKey, text: String)
    /// Writes a line to the log.
    case log
    /// Runs a command.
    case run(AlertCommand)
    /// Starts a session, or stops it.
    case session(SessionAction)

    /// What is done to the recording.
    public enum SessionAction: String, Sendable, Hashable {
        /// It starts; the end of the alert stops it.
        case record
        /// It starts.
        case start
        /// It stops.
        case stop
    }
}

/// A program to run, without a shell: nothing in it comes from a sample.
public struct AlertCommand: Sendable, Hashable {
    /// The absolute path of the program.
    public let path: String
    /// Its arguments, as they are.
    public let arguments: [String]
    /// How long it may take; after that it is ended.
    public let timeLimit: Duration

    /// Makes a command; the path must be absolute, and the time limit 1 s to 10 min.
    public init(path: String, arguments: [String] = [], timeLimit: Duration = .seconds(10)) throws(AlertError) {
        guard path.utf8.first == UInt8(ascii: "/"), !path.hasSuffix("/") else {
            throw AlertError("The command \"\(path)\" is no absolute path of a program. Begin it with /.")
        }
        guard !path.utf8.contains(0), !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw AlertError("The command \(path) holds a zero byte. Remove it.")
        }
        guard (.seconds(1) ... .seconds(600)).contains(timeLimit) else {
            throw AlertError("The time limit of the command \(path) must be from 1 s to 10 min.")
        }
        self.path = path
        self.arguments = arguments
        self.timeLimit = timeLimit
    }
}
