internal import Diagnostics
internal import FastJSON
internal import Glibc
public import Recorder
internal import Samples

/// `feedbridge sessions`: lists, shows, exports and deletes recordings, whether the bridge runs or not.
public struct SessionsCommand: Command {
    /// What to do.
    public enum Action: Sendable, Hashable {
        /// Show all sessions.
        case list(json: Bool)
        /// Show one session.
        case show(id: Int64, json: Bool)
        /// Write one session into a folder.
        case export(id: Int64, format: ExportFormat, output: String)
        /// Delete one session.
        case delete(id: Int64, yes: Bool)
    }

    private let action: Action

    /// Makes the command.
    public init(_ action: Action) {
        self.action = action
    }

    /// Reads the recordings of the configuration's state directory.
    public func run(_ context: CommandContext) async throws {
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let reader = RecordingReader(folder: directory.path)
        switch action {
        case .list(let json):
            let sessions = try await list(reader)
            context.output(json ? JSON.array(sessions.map(\.json)).serialized() + "\n" : table(sessions))
        case .show(let id, let json):
            let session = try await reader.session(id)
            let marks = try await reader.marks(ofSession: id)
            context.output(json ? session.json.serialized() + "\n" : text(session, marks))
        case .export(let id, let format, let output):
            let report = try await reader.export(session: id, as: format, into: output)
            for file in report.files { context.output("\(file)\n") }
        case .delete(let id, let yes):
            guard yes else {
                throw CommandError("deleting session \(id) cannot be undone. Add --yes to do it", exitCode: 2)
            }
            try await delete(id, directory, context.log)
            context.output("deleted session \(id)\n")
        }
    }

    private func list(_ reader: RecordingReader) async throws -> [Session] {
        do {
            return try await reader.sessions()
        } catch RecorderError.noRecordings {
            return []
        }
    }

    /// Through the running bridge, which owns the file; else by ourselves.
    private func delete(_ id: Int64, _ directory: StateDirectory, _ log: Log) async throws {
        do {
            _ = try await LocalClient(directory).call("DELETE", "/sessions/\(id)")
        } catch is LocalClient.NotRunning {
            let store = try await RecorderStore.open(folder: directory.path, log: log)
            try await store.deleteSession(id)
            try await store.close()
        }
    }

    private func table(_ sessions: [Session]) -> String {
        guard !sessions.isEmpty else { return "There are no recordings yet.\n" }
        let rows = sessions.map { session in
            let samples = session.samples.values.reduce(0, +)
            let end = session.end.map { $0.iso8601(fractionDigits: 0) } ?? "-"
            return
                "\("\(session.id)".padded(to: 6))\(session.start.iso8601(fractionDigits: 0).padded(to: 22))\(end.padded(to: 22))\(session.state.rawValue.padded(to: 13))\(session.reason.rawValue.padded(to: 11))\(samples)\n"
        }
        let header = "id".padded(to: 6) + "start".padded(to: 22) + "end".padded(to: 22) + "state".padded(to: 13)
        return header + "reason".padded(to: 11) + "samples\n" + rows.joined()
    }

    private func text(_ session: Session, _ marks: [Mark]) -> String {
        var lines = [
            "session   \(session.id)",
            "start     \(session.start) (\(session.reason.rawValue))",
            "end       \(session.end.map(\.description) ?? "-")\(session.endReason.map { " (\($0.rawValue))" } ?? "")",
            "state     \(session.state.rawValue)",
            "recorded  on \(session.host) by \(session.software)",
            "dropped   \(session.drops)",
        ]
        if session.isUnsynchronised { lines.append("clock     never put right: the times are not to be trusted") }
        for (stream, count) in session.samples.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(stream.text.padded(to: 28)) \(count) samples")
        }
        for mark in marks { lines.append("  \(mark.time)  \(mark.text)") }
        return lines.joined(separator: "\n") + "\n"
    }
}
