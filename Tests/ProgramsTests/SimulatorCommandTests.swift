import FastJSON
import Foundation
import TestKit
import Testing

/// The program itself, and clients that others wrote against it.
@Suite("adafruit-io-simulator", .timeLimit(.minutes(5)))
struct SimulatorCommandTests {
    /// The program as the tests' build left it, beside the tests.
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("adafruit-io-simulator").path

    /// A running simulator, and its ready line.
    struct Running {
        let child: ChildProcess
        let ready: JSON
        let folder: TemporaryDirectory

        init(_ arguments: [String] = [], in folder: TemporaryDirectory = TemporaryDirectory()) async throws {
            self.folder = folder
            let ports = ["--mqtt-port", "0", "--http-port", "0", "--control-port", "0"]
            let key = ["--username", "ada", "--key-file", folder.file("aio.key")]
            child = try ChildProcess(SimulatorCommandTests.program, ports + key + arguments)
            try await child.untilOutput(contains: "\n")
            ready = try JSON.parse(child.output)
        }

        /// The arguments of mosquitto's clients for logging in.
        func login() throws -> [String] {
            let key = try folder.read("aio.key").trimmingCharacters(in: .whitespacesAndNewlines)
            return ["-h", "127.0.0.1", "-p", "\(ready["mqtt_port"]?.int ?? 0)", "-u", "ada", "-P", key]
        }

        /// Waits until the account has asked for so many filters.
        func untilSubscribed(_ count: Int) async throws {
            try await until("\(count) filters are subscribed to") {
                let counters = try JSON.parse(try await self.control(["/counters"]))
                return counters["ada"]?["subscribes"]?.int == count
            }
        }

        func control(_ arguments: [String]) async throws -> String {
            let url = "http://127.0.0.1:\(ready["control_port"]?.int ?? 0)"
            return try await ChildProcess.run("curl", ["-s"] + arguments.map { $0.hasPrefix("/") ? url + $0 : $0 })
        }
    }

    @Test("the ready line has the contract's members, and the key file is made with mode 0600")
    func readyLine() async throws {
        let running = try await Running()

        #expect(
            running.ready.object?.keys
                == ["mqtt_port", "http_port", "control_port", "dashboard", "username", "key_file", "pid"]
        )
        #expect(running.ready["username"]?.string == "ada")
        #expect(running.ready["pid"]?.int == Int(running.child.pid))
        let attributes = try FileManager.default.attributesOfItem(atPath: running.folder.file("aio.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try running.folder.read("aio.key").hasPrefix("aio_"))
        #expect(try running.folder.read("aio.key").count == 33)
    }

    @Test("SIGTERM and SIGINT end it cleanly, and its temporary key goes with it", arguments: [15, 2] as [Int32])
    func signals(number: Int32) async throws {
        let folder = TemporaryDirectory()
        let child = try ChildProcess(
            Self.program,
            ["--mqtt-port", "0", "--http-port", "0"],
            environment: ["XDG_RUNTIME_DIR": folder.path]
        )
        try await child.untilOutput(contains: "\n")
        let ready = try JSON.parse(child.output)
        let file = try #require(ready["key_file"]?.string)
        #expect(ready["username"]?.string == "local")
        #expect(ready["control_port"] == .null)
        #expect(file.hasPrefix(folder.path))
        #expect(FileManager.default.fileExists(atPath: file))

        child.signal(number)

        #expect(try await child.ended() == 0)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("mosquitto_pub and mosquitto_sub work against it, with echo, errors and counters")
    func mosquitto() async throws {
        let running = try await Running(["--plan", "100"])
        let login = try running.login()
        let topics = ["ada/f/load", "ada/errors"].flatMap { ["-t", $0] }
        let listener = try ChildProcess("mosquitto_sub", login + ["-v", "-q", "1", "-i", "listener"] + topics)
        try await running.untilSubscribed(2)

        try await ChildProcess.run("mosquitto_pub", login + ["-q", "1", "-t", "ada/f/load", "-m", "22.5", "-r"])
        try await ChildProcess.run(
            "mosquitto_pub",
            login + ["-q", "1", "-t", "ada/feeds/load", "-l"],
            input: "1\n2\n3\n"
        )
        try await ChildProcess.run("mosquitto_pub", login + ["-q", "1", "-i", "p", "-t", "ada/tele", "-m", "x"])

        for text in [
            "ada/f/load 22.5", "ada/f/load 3",
            #"ada/errors "p 127.0.0.1 PUBLISH ada/tele rejected, not a valid resource topic""#,
        ] {
            try await listener.untilOutput(contains: text)
        }
        // Nothing is retained: the value comes only to a client that asks for it itself.
        let silent = try ChildProcess("mosquitto_sub", login + ["-t", "ada/f/load", "-C", "1", "-i", "silent"])
        try await running.untilSubscribed(3)
        let answer = try await ChildProcess.run(
            "mosquitto_rr",
            login + ["-V", "mqttv311", "-t", "ada/f/load/get", "-e", "ada/f/load", "-n", "-i", "asking"]
        )
        #expect(answer == "3\n")
        #expect(silent.isRunning)
        let counters = try JSON.parse(try await running.control(["/counters"]))
        #expect(counters["ada"]?["points"]?.int == 4)
        #expect(counters["ada"]?["failed_publishes"]?.int == 1)
        #expect(counters["ada"]?["logins"]?.int == 6)
    }

    @Test("mosquitto's clients are told of a wrong key and of a ban")
    func refusals() async throws {
        let running = try await Running()
        let port = "\(running.ready["mqtt_port"]?.int ?? 0)"
        let wrong = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", port, "-u", "ada", "-P", "wrong", "-t", "ada/f/x", "-m", "1"]
        )
        #expect(try await wrong.ended() != 0)
        #expect(wrong.talk.contains("not authorised"))
        #expect(try await running.control(["-d", "ban:seconds=60", "/fault"]) == #"{"ok":true}"#)
        let banned = try ChildProcess("mosquitto_pub", try running.login() + ["-t", "ada/f/x", "-m", "1"])
        #expect(try await banned.ended() != 0)
        #expect(try await running.control(["-X", "DELETE", "/fault"]) == #"{"ok":true}"#)
        try await ChildProcess.run("mosquitto_pub", try running.login() + ["-t", "ada/f/x", "-m", "1", "-q", "1"])
        let refused = try await running.control(["-d", "ban:hours=1", "/fault"])
        #expect(refused.contains("ban has no hours") || refused.contains("seconds=NUMBER is missing"))
    }

    @Test("with --data a feed and its last value are there after a restart, even after a kill")
    func dataStays() async throws {
        let folder = TemporaryDirectory()
        let arguments = ["--data", folder.file("data.sqlite")]
        do {
            let first = try await Running(arguments, in: folder)
            let login = try first.login()
            try await ChildProcess.run("mosquitto_pub", login + ["-q", "1", "-t", "ada/f/x", "-m", "kept"])
            first.child.signal(9)
            try await first.child.ended()
        }

        let second = try await Running(arguments, in: folder)
        let key = try folder.read("aio.key").trimmingCharacters(in: .whitespacesAndNewlines)
        let last = try await ChildProcess.run(
            "curl",
            [
                "-s", "-H", "X-AIO-Key: \(key)",
                "http://127.0.0.1:\(second.ready["http_port"]?.int ?? 0)/api/v2/ada/feeds/x/data/last",
            ]
        )

        #expect(try JSON.parse(last)["value"]?.string == "kept")
    }

    @Test(
        "what cannot be understood is one sentence and exit code 2",
        arguments: [
            (["--port", "1"], "There is no --port. Try --help."),
            (["--mqtt-port"], "--mqtt-port needs a value. Try --help."),
            (["--mqtt-port=99999"], "--mqtt-port takes a port from 0 to 65535, not 99999."),
            (["--plan", "gold"], "--plan: a plan is free, plus or data points a minute, not gold."),
            (["--fault", "ban"], "--fault: Cannot understand \"ban\": seconds=NUMBER is missing."),
            (["--account", "eve"], "--account takes NAME:KEYFILE[:PLAN], not eve."),
            (["--key", "a", "--key-file", "b"], "--key and --key-file exclude each other. Leave one out."),
            (["--key-file", "/etc/passwd"], "Cannot use the key file /etc/passwd: others can read or write it."),
        ]
    )
    func usage(arguments: [String], sentence: String) async throws {
        let child = try ChildProcess(Self.program, arguments)

        #expect(try await child.ended() == 2)
        #expect(child.talk.hasPrefix("adafruit-io-simulator: \(sentence)"))
        #expect(child.output.isEmpty)
        #expect(child.talk.split(separator: "\n").count == 1)
    }

    @Test("a port in use and a data file that cannot be opened are named, with exit code 1 and the remedy")
    func failures() async throws {
        let running = try await Running()
        let port = "\(running.ready["mqtt_port"]?.int ?? 0)"
        let second = try ChildProcess(Self.program, ["--mqtt-port", port, "--http-port", "0", "--key", "k"])
        #expect(try await second.ended() == 1)
        #expect(
            second.talk
                == "adafruit-io-simulator: Cannot listen on 127.0.0.1:\(port): Address already in use. "
                + "Give another port with --mqtt-port, or 0 for a free one.\n"
        )
        let third = try ChildProcess(
            Self.program,
            ["--mqtt-port", "0", "--http-port", "0", "--key", "k", "--data", "/nowhere/data"]
        )
        #expect(try await third.ended() == 1)
        #expect(third.talk.contains("/nowhere/data"))
    }

    @Test("--help fits the program: every option of the contract, every fault")
    func help() async throws {
        let help = try await ChildProcess.run(Self.program, ["--help"])

        for word in [
            "--mqtt-port", "--http-port", "--listen", "--username", "--key-file", "--key ", "--account", "--plan",
            "--data", "--fault", "--control-port", "--option", "connack:", "half-open:", "quoted-messages", "qos2=",
        ] {
            #expect(help.contains(word), "\(word)")
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(try await ChildProcess.run(Self.program, ["--version"]).hasPrefix("adafruit-io-simulator "))
    }
}
