internal import Diagnostics
internal import FastJSON
internal import Recorder
internal import Samples

/// Where an import writes: through the running bridge, which owns the recordings, or straight to them.
enum ImportDestination: Sendable {
    case bridge(StateDirectory)
    case recorder(RecorderStore)

    static func find(_ directory: StateDirectory, _ log: Log) async throws -> ImportDestination {
        do {
            _ = try await LocalClient(directory).call("GET", "/sessions")
            return .bridge(directory)
        } catch is LocalClient.NotRunning {
            return .recorder(try await RecorderStore.open(folder: directory.path, log: log))
        }
    }

    /// Begins a session and gives its number.
    func begin() async throws -> Int64 {
        switch self {
        case .bridge(let directory):
            let answer = try await LocalClient(directory).call("POST", "/import", ["action": "begin"])
            guard let session = answer["session"]?.int64 else {
                throw CommandError("the bridge began no session for the import")
            }
            return session
        case .recorder(let store): return try await store.beginImport()
        }
    }

    func write(_ batch: SampleBatch, to session: Int64) async throws {
        switch self {
        case .bridge(let directory):
            let body: JSON = [
                "action": "samples", "session": .number(JSONNumber(session)), "samples": HealthSamples.json(batch),
            ]
            _ = try await LocalClient(directory).call("POST", "/import", body)
        case .recorder(let store): try await store.importSamples(batch, into: session)
        }
    }

    func end(_ session: Int64) async throws {
        switch self {
        case .bridge(let directory):
            let body: JSON = ["action": "end", "session": .number(JSONNumber(session))]
            _ = try await LocalClient(directory).call("POST", "/import", body)
        case .recorder(let store): try await store.endImport(session)
        }
    }

    func close() async throws {
        if case .recorder(let store) = self { try await store.close() }
    }
}
