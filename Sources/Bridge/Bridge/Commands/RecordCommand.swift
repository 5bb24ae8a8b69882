internal import FastJSON

/// `feedbridge record`: starts, stops or toggles the recording of the running bridge, or sets a mark in it.
public struct RecordCommand: Command {
    /// What to do.
    public enum Action: Sendable, Hashable {
        /// Start recording.
        case start
        /// Stop recording.
        case stop
        /// Do the other thing.
        case toggle
        /// Put a text with the time into the running session.
        case mark(String)
    }

    private let action: Action

    /// Makes the command.
    public init(_ action: Action) {
        self.action = action
    }

    /// Tells the running bridge, and returns when it is done.
    public func run(_ context: CommandContext) async throws {
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let body: JSON =
            switch action {
            case .start: ["action": "start"]
            case .stop: ["action": "stop"]
            case .toggle: ["action": "toggle"]
            case .mark(let text): ["action": "mark", "text": .string(text)]
            }
        let answer = try await LocalClient(directory).call("POST", "/record", body)
        if let session = answer["session"]?.int {
            context.output(isMark ? "marked in session \(session)\n" : "recording \(session)\n")
        } else {
            context.output("stopped\n")
        }
    }

    private var isMark: Bool {
        if case .mark = action { true } else { false }
    }
}
