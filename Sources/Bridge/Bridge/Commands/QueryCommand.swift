internal import Diagnostics
internal import Glibc
public import Recorder
internal import Samples

/// `feedbridge query`: the recorded samples of a stream between two times.
public struct QueryCommand: Command {
    private let stream: String
    private let from: String
    private let to: String
    private let format: ExportFormat

    /// Makes the command; the times are as typed.
    public init(stream: String, from: String, to: String, format: ExportFormat) {
        self.stream = stream
        self.from = from
        self.to = to
        self.format = format
    }

    /// Writes the samples to stdout.
    public func run(_ context: CommandContext) async throws {
        let now = SystemTime().wall()
        guard let name = Name(stream) else { throw CommandError("\"\(stream)\" is no name of a stream", exitCode: 2) }
        let from = try moment(from, now, "--from")
        let to = try moment(to, now, "--to")
        guard from <= to else { throw CommandError("--from is later than --to", exitCode: 2) }
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let reader = RecordingReader(folder: directory.path)
        let rows: RowFormat = format == .jsonl ? .jsonl : .csv
        _ = try await reader.write(name, from: from, to: to, as: rows, to: STDOUT_FILENO)
    }

    private func moment(_ text: String, _ now: Timestamp, _ option: String) throws(CommandError) -> Timestamp {
        guard let moment = TimeArgument.moment(text, now: now) else {
            throw CommandError(
                "\(option) must be a time such as 2026-05-01T12:00:00Z, now, or a time ago such as \"-15 min\", not \"\(text)\"",
                exitCode: 2
            )
        }
        return moment
    }
}
