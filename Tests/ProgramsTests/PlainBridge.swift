import FastJSON
import Foundation
import TestKit

/// A bridge with the profile of a plain broker, against a real mosquitto.
struct PlainBridge {
    let broker: Broker
    let folder: TemporaryDirectory

    /// `account` is added to `[account]`, `text` to the end; with `state` it goes on where that bridge has stopped.
    init(_ broker: Broker, _ text: String, account: String = "", state: PlainBridge? = nil) throws {
        self.broker = broker
        folder = state?.folder ?? TemporaryDirectory()
        try folder.write(
            """
            name = "shed"
            state = "\(folder.path)/state"

            [account]
            profile = "mqtt"
            mqtt = "mqtt://127.0.0.1:\(broker.port)"
            topic = "home/{name}/{feed}"
            \(account)

            [switch]
            topic = "home/switch"
            status_topic = "home/status"

            [recorder]
            smallest_free = "1 MB"

            \(text)
            """,
            to: "feedbridge.toml"
        )
        chmod(folder.file("feedbridge.toml"), 0o600)
    }

    func run() throws -> ChildProcess {
        try ChildProcess(BuiltPrograms.feedbridge, ["run", "--config", folder.file("feedbridge.toml")])
    }

    /// Runs another command to its end.
    func feedbridge(_ arguments: String...) async throws -> String {
        let configuration = ["--config", folder.file("feedbridge.toml")]
        return try await ChildProcess.run(BuiltPrograms.feedbridge, arguments + configuration)
    }

    func status() async throws -> JSON { try JSON.parse(try await feedbridge("status", "--json")) }

    func untilUp() async throws {
        try await until("the link is up") { (try? await self.status())?["link"]?.string == "mqtt" }
    }

    /// The retained message of a topic.
    func retained(_ topic: String) async throws -> String {
        let address = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        let output = try await ChildProcess.run("mosquitto_sub", address + ["-t", topic, "-C", "1", "-W", "20"])
        return output.trimmingCharacters(in: .newlines)
    }

    func untilRetained(_ text: String, on topic: String) async throws {
        try await until("\(topic) holds \(text)") { (try? await self.retained(topic)) == text }
    }

    func stats() async throws -> [String: Int] {
        let members = try JSON.parse(try await feedbridge("outbox", "stats", "--json")).object ?? [:]
        return Dictionary(uniqueKeysWithValues: members.compactMap { key, value in value.int.map { (key, $0) } })
    }
}
