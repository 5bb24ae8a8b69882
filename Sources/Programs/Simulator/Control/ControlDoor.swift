internal import Diagnostics
internal import FastJSON
internal import HTTPServer

/// The port by which tests break the service and read its counters. It asks for no key, so it is off by default and on
/// loopback only.
final class ControlDoor: Sendable {
    private let server: HTTPServer

    var port: Int { server.port }

    init(_ address: HTTPListenAddress, service: SimulatedService, log: Log) throws(HTTPServerError) {
        var limits = HTTPLimits()
        limits.bodyBytes = 64 * 1024
        server = try HTTPServer(
            address,
            routes: [
                HTTPRoute(.post, "/fault") { request in
                    let lines = request.text.split(whereSeparator: \.isNewline).filter { !$0.isEmpty }
                    guard !lines.isEmpty else { return Self.refusal("a fault is missing") }
                    do throws(SimulatorError) {
                        var faults: [Fault] = []
                        for line in lines { faults.append(try Fault(String(line))) }
                        for fault in faults { await service.inject(fault) }
                        return .json(#"{"ok":true}"#)
                    } catch {
                        return Self.refusal(error.description)
                    }
                },
                HTTPRoute(.delete, "/fault") { _ in
                    await service.clearFaults()
                    return .json(#"{"ok":true}"#)
                },
                HTTPRoute(.get, "/counters") { _ in
                    let counters = service.counters
                    let accounts = service.accounts.map { ($0, counters[$0, default: AccountCounters()].json) }
                    return .json(JSON.object(JSONObject(accounts)).serialized())
                },
            ],
            limits: limits,
            log: log
        )
    }

    func stop() {
        server.stop()
    }

    private static func refusal(_ text: String) -> HTTPResponse {
        .json(JSON.object(["error": .string(text)]).serialized(), status: 400)
    }
}
