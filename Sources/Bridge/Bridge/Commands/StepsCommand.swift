internal import Diagnostics
internal import Recorder
internal import Samples

/// `feedbridge steps`: what was walked in a past interval, or since a moment and on.
public struct StepsCommand: Command {
    private let from: String
    private let to: String?
    private let device: String?

    /// Makes the command; the times are as typed, and without `to` it follows.
    public init(from: String, to: String?, device: String?) {
        self.from = from
        self.to = to
        self.device = device
    }

    /// Prints a JSON line; when it follows, one for each change.
    public func run(_ context: CommandContext) async throws {
        let now = SystemTime().wall()
        let start = try moment(from, now, "--from")
        let end = try to.map { try moment($0, now, "--to") }
        if let end, end < start { throw CommandError("--from is later than --to", exitCode: 2) }
        let suffix = device.map { ".\($0)" } ?? ""
        let steps = Name(mapping: "steps\(suffix)")
        let floors = Name(mapping: "floors\(suffix)")
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let reader = RecordingReader(folder: directory.path)
        var shown: StepTotals?
        while true {
            let until = end ?? SystemTime().wall()
            let report = try await StepsReport.read(reader, steps: steps, floors: floors, from: start, to: until)
            let line = report.text
            // The end of the interval moves on with the clock: that alone is no change.
            if report.totals != shown { context.output(line + "\n") }
            shown = report.totals
            guard end == nil else { return }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func moment(_ text: String, _ now: Timestamp, _ option: String) throws(CommandError) -> Timestamp {
        guard let moment = TimeArgument.moment(text, now: now) else {
            throw CommandError(
                "\(option) must be a time such as 2026-05-01T12:00:00Z, now, or a time ago such as \"-1 h\", not \"\(text)\"",
                exitCode: 2
            )
        }
        return moment
    }
}
