import Foundation
import TestKit

/// A bridge with a configuration and a state directory of its own, against a simulator.
final class BridgeProcess: Sendable {
    let folder: TemporaryDirectory
    let stateFolder: String
    var configuration: String { folder.file("feedbridge.toml") }

    /// `account` is added to `[account]`, `text` to the end; with `state` it goes on where that bridge has stopped,
    /// with `stateFolder` its state lies there. Other ports than the simulator's are those of what stands between.
    init(
        _ simulator: SimulatorProcess,
        _ text: String? = nil,
        account: String? = nil,
        plan: Int = 10_000,
        mqttPort: Int? = nil,
        httpPort: Int? = nil,
        state: BridgeProcess? = nil,
        stateFolder: String? = nil
    ) throws {
        folder = state?.folder ?? TemporaryDirectory()
        self.stateFolder = stateFolder ?? "\(folder.path)/state"
        let text = text ?? (account == nil ? BridgeProcess.host : "")
        try folder.write(
            """
            name = "test"
            state = "\(self.stateFolder)"

            [account]
            username = "\(simulator.username)"
            key_file = "\(simulator.keyFile)"
            plan = \(plan)
            mqtt = "mqtt://127.0.0.1:\(mqttPort ?? simulator.mqttPort)"
            rest = "http://127.0.0.1:\(httpPort ?? simulator.httpPort)"

            \(account ?? "")

            [recorder]
            smallest_free = "1 MB"

            \(text)
            """,
            to: "feedbridge.toml"
        )
        chmod(configuration, 0o600)
    }

    static let host = """
        [[sampler]]
        kind = "host"
        every = "200 ms"
        always = true

        [[rule]]
        stream = "host.load"
        field = "one_minute"
        feed = "load"
        every = "1 s"
        always = true
        """

    func run(_ environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(BuiltPrograms.feedbridge, ["run", "--config", configuration], environment: environment)
    }

    /// Runs another command to its end.
    func feedbridge(_ arguments: String...) async throws -> String {
        try await ChildProcess.run(BuiltPrograms.feedbridge, arguments + ["--config", configuration])
    }

    struct Status: Decodable {
        struct Switch: Decodable {
            var wanted: String
            var applied: String?
        }
        struct Points: Decodable {
            var accepted: Int
            var confirmed: Int
            var refused: Int
            var evicted: Int
            var pending: Int
        }
        var link: String
        var reason: String
        var recording: Bool
        var session: Int?
        var points: Points
        var `switch`: Switch
    }

    func status() async throws -> Status {
        try JSONDecoder().decode(Status.self, from: Data(try await feedbridge("status", "--json").utf8))
    }

    struct Session: Decodable, Equatable {
        var id: Int
        var state: String
        var reason: String
        var samples: [String: Int]
    }

    func sessions() async throws -> [Session] {
        try JSONDecoder().decode([Session].self, from: Data(try await feedbridge("sessions", "list", "--json").utf8))
    }

    func untilUp() async throws {
        try await until("the link is up") { (try? await self.status())?.link == "mqtt" }
    }
}
