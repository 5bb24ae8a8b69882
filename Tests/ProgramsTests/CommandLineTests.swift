import Foundation
import TestKit
import Testing

@Suite("The command line of feedbridge", .timeLimit(.minutes(5)))
struct CommandLineTests {
    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> (
        code: Int32, out: String, talk: String
    ) {
        let child = try ChildProcess(BuiltPrograms.feedbridge, arguments, environment: environment)
        let code = try await child.ended()
        return (code, child.output, child.talk)
    }

    @Test("--version and --help answer on stdout with code 0, each command's help fits a screen")
    func help() async throws {
        let version = try await run(["--version"])
        #expect(version.code == 0)
        #expect(version.out.hasPrefix("feedbridge "))
        let help = try await run(["--help"])
        #expect(help.code == 0)
        let commands = [
            "init", "check", "run", "sensors", "status", "record", "sessions", "outbox", "query", "replay", "steps",
            "import", "dashboard",
        ]
        for command in commands {
            #expect(help.out.contains("\n  \(command) "))
            let own = try await run([command, "--help"])
            #expect(own.code == 0)
            #expect(own.out.hasPrefix("Usage: feedbridge \(command)"))
            #expect(own.out.split(separator: "\n", omittingEmptySubsequences: false).count <= 24)
            #expect(own.talk.isEmpty)
        }
    }

    @Test(
        "wrong usage is one sentence on stderr with code 2, and nothing on stdout",
        arguments: [
            ([], "a command is missing"),
            (["rnu"], "there is no command \"rnu\""),
            (["status", "--jsno"], "feedbridge status has no option --jsno; it takes --config, --json"),
            (["record"], "feedbridge record needs start, stop, toggle or mark TEXT"),
            (["record", "pause"], "not \"pause\""),
            (["sessions", "export", "1"], "needs --format csv, jsonl or gpx"),
            (["sessions", "export", "one", "--format", "csv", "--output", "x"], "\"one\" is no ID of a session"),
            (["query", "--stream", "a", "--from", "now"], "feedbridge query needs --to TIME"),
            (["query", "--stream"], "--stream needs a value"),
            (["check", "--json=yes"], "--json takes no value"),
            (["replay", "a.csv"], "feedbridge replay needs --derive KIND"),
            (["replay", "a.csv", "--derive", "steps", "--rate", "-1"], "--rate must be a number above 0"),
            (["replay", "a.csv", "--derive", "steps", "--acc-unit", "kg"], "--acc-unit must be one of g, m/s2, raw"),
            (["replay", "a.csv", "--derive", "steps", "--option", "height"], "--option takes KEY=VALUE"),
            (["import", "fit", "a.fit"], "feedbridge import takes health FILE, not \"fit\""),
            (["import", "health", "a", "--largest", "x"], "--largest takes a size such as"),
            (["run", "now"], "feedbridge run does not take \"now\""),
        ] as [([String], String)]
    )
    func usage(arguments: [String], expected: String) async throws {
        let result = try await run(arguments)

        #expect(result.code == 2)
        #expect(result.out.isEmpty)
        #expect(result.talk.contains(expected), "\(result.talk)")
        #expect(result.talk.split(separator: "\n").count == 1)
    }

    @Test("without a configuration every command says how to make one")
    func noConfiguration() async throws {
        for command in [["run"], ["status"], ["check"], ["sessions", "list"], ["dashboard", "create"]] {
            let result = try await run(command + ["--config", "/nonexistent/feedbridge.toml"])

            #expect(result.code == 2)
            #expect(result.talk.contains("feedbridge init"), "\(command): \(result.talk)")
        }
    }

    @Test("init writes a file that check accepts, with every key in a comment, and does not write over one")
    func initAndCheck() async throws {
        let folder = TemporaryDirectory()
        let path = folder.file("feedbridge.toml")
        let made = try await run(["init", "--output", path], environment: ["ADAFRUIT_IO_USERNAME": "ada"])
        #expect(made.code == 0)

        let check = try await run(["check", "--json", "--config", path], environment: ["ADAFRUIT_IO_KEY": "x"])
        #expect(check.code == 0, "\(check.talk)")
        #expect(check.out.contains("\"problems\":[]"))
        let again = try await run(["init", "--output", path])
        #expect(again.code == 1)
        #expect(again.talk.contains("--force"))
    }

    @Test("a configuration with mistakes stops run before anything is started")
    func nothingHalfStarted() async throws {
        let folder = TemporaryDirectory()
        let path = try folder.write(
            """
            state = "\(folder.path)/state"
            [account]
            username = "ada"
            [[rule]]
            stream = "host.laod"
            field = "one_minute"
            feed = "load"
            every = "1 s"
            [[sampler]]
            kind = "host"
            """,
            to: "feedbridge.toml"
        )
        chmod(path, 0o600)

        let result = try await run(["run", "--config", path], environment: ["ADAFRUIT_IO_KEY": "x"])

        #expect(result.code == 2)
        #expect(result.talk.contains("feedbridge.toml:5:10:"), "\(result.talk)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
    }

    @Test("a second bridge on one state directory is refused with a sentence")
    func secondBridge() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let first = try bridge.run()
        try await bridge.untilUp()

        let second = try bridge.run()

        #expect(try await second.ended() == 2)
        #expect(second.talk.contains("another feedbridge (process \(first.pid)) already runs"), "\(second.talk)")
        #expect(first.isRunning)
    }

    @Test("status of a bridge that does not run says how to start it")
    func notRunning() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)

        let result = try await run(["status", "--config", bridge.configuration])

        #expect(result.code == 1)
        #expect(result.talk.contains("feedbridge run"), "\(result.talk)")
    }

    @Test("what was typed and cannot be meant ends with code 2, once there is a configuration")
    func cannotBeMeant() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        for (arguments, text) in [
            (["query", "--stream", "a", "--from", "soon", "--to", "now"], "--from must be a time such as"),
            (["query", "--stream", "a", "--from", "now", "--to", "-1 h"], "--from is later than --to"),
            (["sessions", "delete", "1"], "Add --yes to do it"),
        ] {
            let result = try await run(arguments + ["--config", bridge.configuration])

            #expect(result.code == 2)
            #expect(result.out.isEmpty)
            #expect(result.talk.contains(text), "\(result.talk)")
        }
    }

    @Test("a port in use is one sentence with code 2, and the bridge does not run")
    func portInUse() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, "[http]\nlisten = \"127.0.0.1:\(simulator.httpPort)\"\n")

        let result = try await run(["run", "--config", bridge.configuration])

        #expect(result.code == 2)
        let errors = result.talk.split(separator: "\n").filter { $0.contains("error: ") }
        #expect(errors.count == 1)
        #expect(errors.first?.contains("[http] Cannot listen on 127.0.0.1:\(simulator.httpPort)") == true)
    }

    @Test("a broken row of a replayed CSV is counted and skipped")
    func brokenRow() async throws {
        let simulator = try await SimulatorProcess()
        let folder = TemporaryDirectory()
        try folder.write("time_s,x,y,z\n0,1,2,3\n0.01,1,two,3\n0.02,1,2,3\nx,1,2,3\n0.03,1,2,3\n", to: "walk.csv")
        let bridge = try BridgeProcess(
            simulator,
            "[[sampler]]\nkind = \"replay\"\nstream = \"accelerometer\"\nfile = \"\(folder.file("walk.csv"))\"\nalways = true\n"
        )
        let run = try bridge.run()
        try await bridge.untilUp()

        struct Status: Decodable {
            struct Stream: Decodable {
                var good: Int
                var bad: Int
            }
            var streams: [String: Stream]
        }
        try await until("the rows are through") {
            let text = try await bridge.feedbridge("status", "--json")
            let status = try JSONDecoder().decode(Status.self, from: Data(text.utf8))
            let stream = status.streams["accelerometer"]
            return (stream?.good ?? 0) + (stream?.bad ?? 0) == 5
        }
        #expect(run.talk.contains("walk.csv"))
        #expect(run.isRunning)
    }
}
