import AdafruitIO
import Diagnostics
import FastJSON
import HTTPServer
import TestKit
import Testing

@testable import Simulator

/// A service behind its HTTP door on a free port, with an account `ada` whose key is `aio_ada`.
struct WebWorld {
    let time = ManualTime(wall: Timestamp(nanoseconds: 1_589_316_770_000_000_000))
    let service: SimulatedService
    let door: WebDoor

    init(_ plan: AdafruitIOPlan = .custom(pointsPerMinute: 1000), options: SimulatorOptions = SimulatorOptions()) throws
    {
        service = try SimulatedService(
            accounts: [
                SimulatedAccount(name: "ada", key: Secret("aio_ada"), plan: plan),
                SimulatedAccount(name: "grace", key: Secret("aio_grace")),
            ],
            options: options,
            time: time
        )
        door = try WebDoor(.tcp(host: "127.0.0.1", port: 0), service: service, log: .silent)
    }

    var address: String { "http://127.0.0.1:\(door.port)" }

    /// A request with the key and a JSON body.
    func send(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        headers: [String] = ["X-AIO-Key: aio_ada", "Content-Type: application/json"]
    ) async throws -> Answer {
        try await Curl.send(method, address + path, headers: headers, body: body)
    }

    /// The same below the account's own address.
    func api(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
        try await send(method, "/api/v2/ada/\(path)", body)
    }
}
