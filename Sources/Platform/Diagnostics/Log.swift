internal import Glibc

/// Talk for people, on stderr. What a program answers goes to stdout and never through here.
///
/// Safe from any thread: one `write` a line.
public struct Log: Sendable {
    /// How much a line matters.
    public enum Level: Int, Sendable, Comparable {
        /// For someone looking for a fault in the program.
        case debug
        /// What a user may want to know.
        case info
        /// Something went wrong and the program deals with it.
        case warning
        /// Something went wrong and somebody has to do something.
        case error

        /// Whether `left` matters less than `right`.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let program: String
    private let least: Level
    private let output: @Sendable (String) -> Void

    /// A log that writes lines of at least `least`, prefixed with the program's name, to stderr.
    public init(program: String, least: Level = .info) {
        self.init(program: program, least: least) { line in
            var text = line
            text.withUTF8 { bytes in
                var rest = UnsafeRawBufferPointer(bytes)
                while !rest.isEmpty {
                    let written = write(STDERR_FILENO, rest.baseAddress, rest.count)
                    guard written > 0 else { return }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                }
            }
        }
    }

    /// A log that gives its lines, each ending in a line feed, to `output`.
    public init(program: String, least: Level = .info, output: @escaping @Sendable (String) -> Void) {
        self.program = program
        self.least = least
        self.output = output
    }

    /// A log that says nothing.
    public static let silent = Log(program: "", least: .error) { _ in }

    /// Says what only someone looking for a fault wants.
    public func debug(_ message: @autoclosure () -> String) { say(.debug, message) }

    /// Says what a user may want to know.
    public func info(_ message: @autoclosure () -> String) { say(.info, message) }

    /// Says that something went wrong that the program deals with.
    public func warning(_ message: @autoclosure () -> String) { say(.warning, message) }

    /// Says that something went wrong that somebody has to deal with.
    public func error(_ message: @autoclosure () -> String) { say(.error, message) }

    private func say(_ level: Level, _ message: () -> String) {
        guard level >= least else { return }
        let word =
            switch level {
            case .debug: "debug: "
            case .info: ""
            case .warning: "warning: "
            case .error: "error: "
            }
        let text = message().map { $0.isNewline || ($0.asciiValue ?? 32) < 32 ? " " : $0 }
        output("\(program): \(word)\(String(text))\n")
    }
}
