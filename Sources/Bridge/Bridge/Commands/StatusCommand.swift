internal import FastJSON

/// `feedbridge status`: what the running bridge does.
public struct StatusCommand: Command {
    private let json: Bool

    /// Makes the command.
    public init(json: Bool) {
        self.json = json
    }

    /// Asks the running bridge and prints its answer.
    public func run(_ context: CommandContext) async throws {
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let status = try await LocalClient(directory).call("GET", "/status")
        context.output(json ? status.serialized() + "\n" : StatusReport.text(status))
    }
}
