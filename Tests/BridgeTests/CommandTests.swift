import Diagnostics
import FastJSON
import Foundation
import Recorder
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Commands", .timeLimit(.minutes(1)))
struct CommandTests {
    private func context(_ folder: TemporaryDirectory, _ text: String, _ output: Talk) throws -> CommandContext {
        let path = try folder.write(
            "state = \"\(folder.path)\"\n[account]\nusername = \"ada\"\n" + text,
            to: "feedbridge.toml"
        )
        chmod(path, 0o600)
        return CommandContext(
            configurationFile: path,
            environment: ["ADAFRUIT_IO_KEY": "key"],
            log: .silent,
            output: { output.add($0) }
        )
    }

    private static let rules = """
        [[sampler]]
        kind = "host"
        [[rule]]
        stream = "host.load"
        field = "one_minute"
        feed = "load"
        every = "10 s"
        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        every = "1 min"
        [[rule]]
        feed = "all"
        every = "2 s"
        fields = ["host.load.one_minute", "host.uptime.seconds"]
        """

    @Test("check counts the points a minute: 6 + 1 + 30 of the plan's, and warns above 80 percent")
    func check() async throws {
        let folder = TemporaryDirectory()
        let (text, json) = (Talk(), Talk())

        try await CheckCommand(json: false).run(try context(folder, "plan = 45\n" + Self.rules, text))
        try await CheckCommand(json: true).run(try context(folder, "plan = 45\n" + Self.rules, json))

        #expect(text.text.contains("The rules need up to 37 of the plan's 45 data points a minute."))
        #expect(text.text.contains("more than 80 % of 45"))
        #expect(!text.text.contains("Positions"))
        let report = try JSON.parse(json.text)
        #expect(report["points_per_minute"]?.double == 37)
        #expect(report["plan"]?.int == 45)
        #expect(
            report["feeds"]?.array?.compactMap(\.string) == ["recording", "recording-status", "load", "uptime", "all"]
        )
        #expect(report["problems"]?.array == [])
        let roomy = Talk()
        try await CheckCommand(json: false).run(try context(folder, "plan = \"plus\"\n" + Self.rules, roomy))
        #expect(!roomy.text.contains("Warning"))
    }

    @Test("check lists every problem with its place, the key's among them, as JSON and as an error")
    func checkProblems() async throws {
        let folder = TemporaryDirectory()
        let output = Talk()
        let context = try context(
            folder,
            "key_file = \"/nonexistent/key\"\n[[sampler]]\nkind = \"host\"\n[[rule]]\nstream = \"host.laod\"\nfield = \"one_minute\"\nfeed = \"load\"\nevery = \"1 s\"\n",
            output
        )

        await #expect(throws: ConfigurationError.self) { try await CheckCommand(json: true).run(context) }

        let problems = try #require(try JSON.parse(output.text)["problems"]?.array)
        try #require(problems.count == 2)
        #expect(problems[0]["text"]?.string?.contains("/nonexistent/key") == true)
        #expect(problems[1]["line"]?.int == 8)
        #expect(problems[1]["column"]?.int == 10)
    }

    @Test("words that mean both are a mistake of the configuration, with its place")
    func words() async throws {
        let folder = TemporaryDirectory()
        let context = try context(folder, "[switch]\non_words = [\"go\"]\noff_words = [\"Go\"]\n", Talk())

        let error = await #expect(throws: ConfigurationError.self) { try await CheckCommand(json: false).run(context) }

        #expect(error?.problems.first?.line == 5)
        #expect(error?.description.contains("would mean both ON and OFF") == true)
    }

    @Test(
        "times are ISO 8601 with a zone, now, or a time ago",
        arguments: [
            ("2026-05-01T12:00:00Z", 1_777_636_800_000_000_000),
            ("2026-05-01T14:00:00+02:00", 1_777_636_800_000_000_000),
            ("now", 1_790_000_000_000_000_000), ("-15 min", 1_789_999_100_000_000_000),
            ("-2 h", 1_789_992_800_000_000_000), ("-250 ms", 1_789_999_999_750_000_000),
        ] as [(String, Int64)]
    )
    func times(text: String, nanoseconds: Int64) {
        let now = Timestamp(nanoseconds: 1_790_000_000_000_000_000)

        #expect(TimeArgument.moment(text, now: now) == Timestamp(nanoseconds: nanoseconds))
    }

    @Test(
        "what is no time is none",
        arguments: ["", "-", "yesterday", "2026-05-01", "2026-05-01T12:00:00", "15 min", "--15 min", "-15", "-1e9 d"]
    )
    func noTimes(text: String) {
        #expect(TimeArgument.moment(text, now: Timestamp(nanoseconds: 0)) == nil)
    }

    @Test("query says what is wrong with its times, as a mistake of who typed it")
    func queryMistakes() async throws {
        let folder = TemporaryDirectory()
        let context = try context(folder, "", Talk())
        for (from, to, text) in [
            ("soon", "now", "--from must be a time"), ("now", "-1 h", "--from is later than --to"),
        ] {
            let error = await #expect(throws: CommandError.self) {
                try await QueryCommand(stream: "a", from: from, to: to, format: .csv).run(context)
            }
            #expect(error?.description.contains(text) == true)
            #expect(error?.exitCode == 2)
        }
    }

    @Test("sessions are listed, shown with marks, exported and deleted while no bridge runs")
    func sessions() async throws {
        let folder = TemporaryDirectory()
        let output = Talk()
        let context = try context(folder, "", output)
        try await SessionsCommand(.list(json: false)).run(context)
        #expect(output.text == "There are no recordings yet.\n")
        let store = try await RecorderStore.open(folder: folder.path)
        _ = try await store.startSession(reason: .command)
        let time = SystemTime()
        store.receive(SampleBatch(stream("test", "x"), arrival: time.boot(), time: time.wall(), [.real(4.5)]))
        _ = try await store.mark("the door opens")
        _ = try await store.stopSession(reason: .limit)
        try await store.close()

        let listed = Talk()
        try await SessionsCommand(.list(json: true)).run(try self.context(folder, "", listed))
        let session = try #require(try JSON.parse(listed.text)[0])
        #expect(session["id"]?.int == 1)
        #expect(session["state"]?.string == "ended")
        #expect(session["reason"]?.string == "command")
        #expect(session["samples"]?["test"]?.int == 1)
        let shown = Talk()
        try await SessionsCommand(.show(id: 1, json: false)).run(try self.context(folder, "", shown))
        #expect(shown.text.contains("the door opens"))
        #expect(shown.text.contains("(limit)"))
        let exported = Talk()
        try await SessionsCommand(.export(id: 1, format: .csv, output: folder.file("out"))).run(
            try self.context(folder, "", exported)
        )
        let file = try #require(exported.text.split(separator: "\n").first)
        #expect(try String(contentsOfFile: String(file), encoding: .utf8).hasPrefix("time_ns,x\n"))

        let kept = await #expect(throws: CommandError.self) {
            try await SessionsCommand(.delete(id: 1, yes: false)).run(context)
        }
        #expect(kept?.exitCode == 2)
        try await SessionsCommand(.delete(id: 1, yes: true)).run(context)
        let after = Talk()
        try await SessionsCommand(.list(json: true)).run(try self.context(folder, "", after))
        #expect(after.text == "[]\n")
    }
}
