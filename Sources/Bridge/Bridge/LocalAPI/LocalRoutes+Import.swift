internal import Diagnostics
internal import FastJSON
internal import HTTPServer
internal import Recorder

/// Imports by another process while the bridge runs: `{"action":"begin"}`, `{"action":"samples","session":ID,
/// "samples":{...}}` any number of times, `{"action":"end","session":ID}`.
extension LocalRoutes {
    var importRoute: HTTPRoute {
        HTTPRoute(.post, "/import") { [self] request in await importSamples(request) }
    }

    private func importSamples(_ request: HTTPRequest) async -> HTTPResponse {
        guard let body = try? JSON.parse(request.body), let action = body["action"]?.string else {
            return Self.failure(400, "the body must be {\"action\":\"begin|samples|end\"}")
        }
        do {
            if action == "begin" {
                let session = try await service.recorder.beginImport()
                return .json(JSON.object(["session": .number(JSONNumber(session))]).serialized())
            }
            guard let session = body["session"]?.int64 else { return Self.failure(400, "session must be a number") }
            switch action {
            case "samples":
                guard let batch = body["samples"].flatMap({ HealthSamples.batch($0, arrival: SystemTime().boot()) })
                else { return Self.failure(400, "samples must be {\"stream\",\"rows\"} of a health stream") }
                try await service.recorder.importSamples(batch, into: session)
            case "end":
                try await service.recorder.endImport(session)
            default:
                return Self.failure(400, "action must be begin, samples or end, not \"\(action)\"")
            }
            return .empty(204)
        } catch {
            return Self.failure(409, "\(error)")
        }
    }
}
