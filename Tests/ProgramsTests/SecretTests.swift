import Foundation
import TestKit
import Testing

/// A bridge that talks as much as it can, and everything that it and its commands have left behind.
private final class Confession: Sendable {
    static let key = "aio_key_of_a_test"
    static let wrongKey = "aio_wrong_key_of_a_test"

    let bridge: BridgeProcess
    let folder: TemporaryDirectory

    init(_ bridge: BridgeProcess) {
        self.bridge = bridge
        folder = bridge.folder
        try? FileManager.default.createDirectory(atPath: folder.file("left"), withIntermediateDirectories: true)
    }

    /// Runs the bridge in a folder of its own, where a crash may leave what it likes.
    func run(environment: [String: String] = [:]) throws -> ChildProcess {
        let script = "ulimit -c unlimited; cd \"$1\" && exec \"$0\" run --config \"$2\""
        return try ChildProcess(
            "sh",
            ["-c", script, BuiltPrograms.feedbridge, folder.file("left"), bridge.configuration],
            // The toolchain's own crash reporter would hold the process up, and is no part of an installed program.
            environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        )
    }

    /// Writes another key where the configuration says that it is.
    func setKey(_ key: String, _ simulator: SimulatorProcess) throws {
        try simulator.folder.write(key, to: "bridge-key")
        chmod(simulator.folder.file("bridge-key"), 0o600)
    }

    /// The files below the bridge's folder that hold a key.
    func betrayals() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.filter { name in
            guard let bytes = FileManager.default.contents(atPath: folder.file(name)) else { return false }
            return Confession.shows(bytes)
        }
    }

    static func shows(_ bytes: Data) -> Bool {
        // Also as it stands in a header of HTTP, in an MQTT packet or in base 64.
        [key, wrongKey].contains { key in
            bytes.range(of: Data(key.utf8)) != nil
                || bytes.range(of: Data(Data(key.utf8).base64EncodedString().utf8)) != nil
        }
    }

    static func shows(_ text: String) -> Bool { shows(Data(text.utf8)) }
}

@Suite("Secrets, with the real programs", .timeLimit(.minutes(5)))
struct SecretTests {
    @Test("the key never shows: in no log, status, command, file, argument list, nor in a child's environment")
    func neverShows() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let confession = Confession(bridge)
        try confession.setKey(Confession.key, simulator)
        let text = try bridge.folder.read("feedbridge.toml")
        try bridge.folder.write(
            text.replacingOccurrences(of: simulator.keyFile, with: simulator.folder.file("bridge-key"))
                + "\n[http]\nlisten = \"127.0.0.1:\(LocalPorts.free())\"\n",
            to: "feedbridge.toml"
        )
        var said: [String] = []

        // Connects, records, shows all that it can show.
        let first = try confession.run()
        try await bridge.untilUp()
        #expect(try Self.arguments(of: first).contains("run"))
        #expect(try !Confession.shows(Self.arguments(of: first)))
        #expect(try !Confession.shows(Self.environment(of: first)))
        #expect(try Self.children(of: first).isEmpty)
        said.append(try await bridge.feedbridge("record", "start"))
        try await until("a value has arrived") { try await simulator.last("load") != nil }
        for arguments in [
            ["status"], ["status", "--json"], ["check"], ["check", "--json"], ["sensors", "--json"],
            ["outbox", "stats"],
            ["outbox", "list", "--json"], ["outbox", "export"], ["sessions", "list"],
            ["dashboard", "create", "--dry-run"],
        ] {
            let command = try ChildProcess(BuiltPrograms.feedbridge, arguments + ["--config", bridge.configuration])
            try await command.ended()
            said += [command.output, command.talk]
        }

        // Is refused, and crashes while it has the key in its memory.
        try confession.setKey(Confession.wrongKey, simulator)
        first.signal(SIGHUP)
        try await until("the key is refused") { try await bridge.status().reason == "key-refused" }
        said.append(try await bridge.feedbridge("status"))
        try confession.setKey(Confession.key, simulator)
        first.signal(SIGHUP)
        try await bridge.untilUp()
        first.signal(SIGABRT)
        #expect(try await first.ended() == -SIGABRT)

        // Refuses to start, with a key in the environment and with a file that others can read.
        chmod(simulator.folder.file("bridge-key"), 0o644)
        let second = try confession.run(environment: ["ADAFRUIT_IO_KEY": Confession.wrongKey])
        #expect(try await second.ended() == 2)
        chmod(simulator.folder.file("bridge-key"), 0o600)
        let third = try confession.run()
        try await bridge.untilUp()
        third.signal(SIGTERM)
        #expect(try await third.ended() == 0)

        for child in [first, second, third] { said += [child.output, child.talk] }
        #expect(said.filter { !$0.isEmpty }.count > 12)
        for text in said { #expect(!Confession.shows(text), "\(text)") }
        #expect(try confession.betrayals().isEmpty)
        // The search finds a key where there is one.
        try confession.folder.write("x\(Confession.key)", to: "left/decoy")
        #expect(try confession.betrayals() == ["left/decoy"])
    }

    private static func arguments(of child: ChildProcess) throws -> String {
        try String(contentsOfFile: "/proc/\(child.pid)/cmdline", encoding: .utf8)
    }

    private static func environment(of child: ChildProcess) throws -> String {
        try String(contentsOfFile: "/proc/\(child.pid)/environ", encoding: .utf8)
    }

    private static func children(of child: ChildProcess) throws -> String {
        try String(contentsOfFile: "/proc/\(child.pid)/task/\(child.pid)/children", encoding: .utf8)
    }
}
