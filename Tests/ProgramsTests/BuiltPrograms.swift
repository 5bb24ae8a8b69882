import Diagnostics
import FastJSON
import Foundation
import TestKit

/// The programs that this package has built, beside the tests.
enum BuiltPrograms {
    static let feedbridge = path("feedbridge", target: "FeedbridgeCommand")
    static let simulator = path("adafruit-io-simulator", target: "SimulatorCommand")

    private static func path(_ product: String, target: String) -> String {
        let candidates =
            CommandLine.arguments + [
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            ]
        let folders = candidates.filter { $0.contains("/") }.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path
        }
        let places = folders.flatMap { ["\($0)/\(product)", "\($0)/\(target)"] }
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            preconditionFailure("\(product) is not built: looked for \(places)")
        }
        return found
    }
}

/// A simulator that can be stopped and started again on the same ports.
final class SimulatorProcess: Sendable {
    struct Ready: Decodable {
        var mqttPort: Int
        var httpPort: Int
    }

    let folder = TemporaryDirectory()
    let username = "ada"
    let mqttPort: Int
    let httpPort: Int
    private let data: Bool
    private let plan: Int
    private let faults: [String]
    private let controlPort = LocalPorts.free()
    private let process: Guarded<ChildProcess>

    /// `faults` are there at each start.
    init(data: Bool = false, plan: Int = 10_000, faults: [String] = []) async throws {
        self.data = data
        self.plan = plan
        self.faults = faults
        try folder.write("aio_key_of_a_test", to: "key")
        chmod(folder.file("key"), 0o600)
        // Not 0: a port of the kernel's choice may be somebody else's when the simulator is started again.
        let ports = Ready(mqttPort: LocalPorts.free(), httpPort: LocalPorts.free())
        let more = Self.arguments(faults, controlPort)
        let started = try Self.start(folder, ports, data, plan, more)
        _ = try await Self.ready(started)
        mqttPort = ports.mqttPort
        httpPort = ports.httpPort
        process = Guarded(started)
    }

    var keyFile: String { folder.file("key") }

    private static func arguments(_ faults: [String], _ controlPort: Int) -> [String] {
        faults.flatMap { ["--fault", $0] } + ["--control-port", "\(controlPort)"]
    }

    private static func start(
        _ folder: TemporaryDirectory,
        _ ports: Ready,
        _ data: Bool,
        _ plan: Int,
        _ more: [String]
    ) throws -> ChildProcess {
        var arguments = ["--mqtt-port", "\(ports.mqttPort)", "--http-port", "\(ports.httpPort)"]
        arguments += ["--username", "ada", "--key-file", folder.file("key"), "--plan", "\(plan)"] + more
        if data { arguments += ["--data", folder.file("data.sqlite")] }
        return try ChildProcess(BuiltPrograms.simulator, arguments)
    }

    private static func ready(_ process: ChildProcess) async throws -> Ready {
        try await process.untilOutput(contains: "}\n")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Ready.self, from: Data(process.output.utf8))
    }

    func stop() async throws {
        let process = process.withLock { $0 }
        process.signal(SIGTERM)
        _ = try await process.ended()
    }

    /// Ends it as a crash would.
    func kill() async throws {
        let process = process.withLock { $0 }
        process.signal(SIGKILL)
        _ = try await process.ended()
    }

    func restart() async throws {
        let ports = Ready(mqttPort: mqttPort, httpPort: httpPort)
        let started = try Self.start(folder, ports, data, plan, Self.arguments(faults, controlPort))
        _ = try await Self.ready(started)
        process.withLock { $0 = started }
    }

    /// Brings a fault about, as the control port takes it; nil ends all faults.
    func fault(_ text: String?) async throws {
        let arguments = text.map { ["-d", $0] } ?? ["-X", "DELETE"]
        let address = "http://127.0.0.1:\(controlPort)/fault"
        _ = try await ChildProcess.run("curl", ["-s", "-f"] + arguments + [address])
    }

    /// What the account did since the simulator's start.
    func counters() async throws -> [String: Int] {
        let body = try await ChildProcess.run("curl", ["-s", "-f", "http://127.0.0.1:\(controlPort)/counters"])
        return (try JSON.parse(body)[username]?.object ?? [:]).reduce(into: [:]) { $0[$1.key] = $1.value.int }
    }

    func publish(_ text: String, to feed: String) async throws {
        let account = ["-h", "127.0.0.1", "-p", "\(mqttPort)", "-u", username, "-P", "aio_key_of_a_test"]
        _ = try await ChildProcess.run("mosquitto_pub", account + ["-t", "\(username)/f/\(feed)", "-m", text])
    }

    /// The last value of a feed, by REST; nil when there is none.
    func last(_ feed: String) async throws -> String? {
        let address = "http://127.0.0.1:\(httpPort)/api/v2/\(username)/feeds/\(feed)/data/last"
        let body = try await ChildProcess.run("curl", ["-s", "-H", "X-AIO-Key: aio_key_of_a_test", address])
        struct Last: Decodable { var value: String? }
        return (try? JSONDecoder().decode(Last.self, from: Data(body.utf8)))?.value
    }

    /// Value and time of every point of a feed, by REST.
    func points(_ feed: String) async throws -> [String] {
        let address = "http://127.0.0.1:\(httpPort)/api/v2/\(username)/feeds/\(feed)/data?limit=1000"
        let body = try await ChildProcess.run("curl", ["-s", "-H", "X-AIO-Key: aio_key_of_a_test", address])
        let points = try JSON.parse(body).array ?? []
        return points.map { "\(feed) \($0["created_epoch"]?.serialized() ?? "?") \($0["value"]?.string ?? "?")" }
    }

    /// The values of a feed of numbers by created_at, the oldest first.
    func values(_ feed: String) async throws -> [Double] {
        let address = "http://127.0.0.1:\(httpPort)/api/v2/\(username)/feeds/\(feed)/data?limit=1000"
        let body = try await ChildProcess.run("curl", ["-s", "-H", "X-AIO-Key: aio_key_of_a_test", address])
        let points = try JSON.parse(body).array ?? []
        return points.reversed().compactMap { $0["value"]?.string.flatMap(Double.init) }
    }
}
