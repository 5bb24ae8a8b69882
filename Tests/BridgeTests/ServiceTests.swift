import AdafruitIOClient
import Control
import DataPoints
import Diagnostics
import FastJSON
import Foundation
import Publisher
import Recorder
import Samples
import Simulator
import TestKit
import Testing

@testable import Bridge

/// A whole bridge in this process, against a simulator in this process; its socket is a real one.
private final class ServiceWorld: Sendable {
    let io: SimulatedIO
    let service: BridgeService
    let path: String
    let talk = Talk()
    private let running: Task<Void, any Error>

    static let host = """
        [[sampler]]
        kind = "host"
        every = "100 ms"
        always = true
        [[rule]]
        stream = "host.load"
        field = "one_minute"
        feed = "load"
        every = "1 s"
        always = true
        """

    init(_ text: String = ServiceWorld.host) async throws {
        let io = try SimulatedIO()
        self.io = io
        let context = try io.context(text, account: "plan = 10000")
        path = context.configurationFile ?? ""
        let configuration = try context.configuration()
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: path)
        let samplers = try SamplerFactory.make(configuration, time: SystemTime())
        let service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: context.environment,
            time: SystemTime(),
            log: talk.log
        )
        self.service = service
        running = Task { try await service.run(samplers) }
        let socket = directory.socket
        try await until("the socket is there") { access(socket, F_OK) == 0 }
    }

    func stopBridge() async throws {
        running.cancel()
        try await running.value
    }

    func end() async throws {
        try await stopBridge()
        await io.simulator.stop()
    }

    func curl(_ path: String, _ body: String? = nil, method: String? = nil) async throws -> (status: Int, json: JSON) {
        var arguments = ["-s", "--unix-socket", io.folder.file("state/control.sock"), "-w", "\n%{http_code}"]
        if let body { arguments += ["--data-binary", body] }
        if let method { arguments += ["-X", method] }
        let output = try await ChildProcess.run("curl", arguments + ["http://feedbridge\(path)"])
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.dropLast().joined(separator: "\n")
        return (Int(lines.last ?? "") ?? 0, (try? JSON.parse(text)) ?? .null)
    }

    func publish(_ text: String, to feed: String = "recording") async throws {
        let account = ["-h", "127.0.0.1", "-p", "\(io.simulator.mqttPort)", "-u", "ada", "-P", "key"]
        try await ChildProcess.run("mosquitto_pub", account + ["-t", "ada/f/\(feed)", "-m", text])
    }

    func untilUp() async throws {
        try await until("the link is up") { await self.service.status().delivery.link == .mqtt }
    }

    func rewrite(_ text: String) throws {
        _ = try io.context(text, account: "plan = 10000")
    }
}

@Suite("The running bridge", .timeLimit(.minutes(2)))
struct ServiceTests {
    private func keys(_ json: JSON?) -> Set<String> { Set(json?.object?.map(\.0) ?? []) }

    @Test("status has the contract's keys, all of them and no others")
    func status() async throws {
        let world = try await ServiceWorld()
        try await world.untilUp()
        try await until("samples came") { !(await world.service.status().streams.isEmpty) }

        let (code, status) = try await world.curl("/status")

        #expect(code == 200)
        #expect(
            keys(status) == [
                "version", "name", "link", "reason", "message", "next_try", "recording", "session", "points", "budget",
                "backlog", "evicted", "set_aside", "problems", "streams", "switch",
            ]
        )
        #expect(keys(status["points"]) == ["accepted", "confirmed", "refused", "evicted", "pending", "doubt"])
        #expect(keys(status["budget"]) == ["limit", "used", "left", "window_s"])
        #expect(keys(status["backlog"]) == ["points", "bytes", "oldest", "eta_s"])
        #expect(keys(status["switch"]) == ["wanted", "applied", "source", "since"])
        #expect(
            keys(status["streams"]?["host.load"]) == [
                "rate_hz", "asked_hz", "age_s", "good", "bad", "late", "duplicate", "dropped", "state",
            ]
        )
        #expect(status["name"]?.string == "greenhouse")
        #expect(status["link"]?.string == "mqtt")
        #expect(status["reason"]?.string == "ok")
        #expect(status["budget"]?["window_s"]?.int == 60)
        #expect(status["streams"]?["host.load"]?["asked_hz"]?.double == 10)
        #expect(!status.serialized().contains("\"key\""))
        let people = StatusReport.text(status)
        #expect(people.contains("greenhouse"))
        #expect(people.contains("host.load"))
        #expect(!people.contains("?"))
        try await world.end()
    }

    @Test("record start, toggle, stop and mark do what they say over the socket")
    func record() async throws {
        let world = try await ServiceWorld()

        #expect(try await world.curl("/record", #"{"action":"mark","text":"too early"}"#).status == 409)
        var answer = try await world.curl("/record", #"{"action":"start"}"#)
        #expect(answer.status == 200)
        #expect(answer.json == ["recording": true, "session": 1])
        answer = try await world.curl("/record", #"{"action":"mark","text":"now"}"#)
        #expect(answer.json == ["session": 1, "recording": true])
        answer = try await world.curl("/record", #"{"action":"toggle"}"#)
        #expect(answer.json == ["recording": false, "session": nil])
        answer = try await world.curl("/record", #"{"action":"toggle"}"#)
        #expect(answer.json == ["recording": true, "session": 2])
        #expect(try await world.curl("/sessions/2", method: "DELETE").status == 409)
        answer = try await world.curl("/record", #"{"action":"stop"}"#)
        #expect(answer.json == ["recording": false, "session": nil])

        let sessions = try await world.curl("/sessions").json.array ?? []
        #expect(sessions.map { $0["id"]?.int } == [1, 2])
        #expect(
            keys(sessions.first).isSuperset(of: ["id", "start", "end", "reason", "state", "samples", "drops"])
        )
        #expect(try await world.curl("/sessions/1", method: "DELETE").status == 204)
        #expect(try await world.curl("/sessions/1", method: "DELETE").status == 409)
        #expect(try await world.curl("/sessions/x", method: "DELETE").status == 400)
        try await world.end()
    }

    @Test("wrong bodies are answered with 400 and a sentence, and change nothing")
    func wrongBodies() async throws {
        let world = try await ServiceWorld()

        for body in ["", "{", "[]", "{}", #"{"action":1}"#, #"{"action":"explode"}"#, #"{"action":"mark"}"#] {
            let answer = try await world.curl("/record", body, method: "POST")
            #expect(answer.status == 400, "\(body)")
            #expect(answer.json["error"]?.string?.isEmpty == false, "\(body)")
        }
        #expect(try await world.curl("/nothing").status == 404)
        #expect(try await world.curl("/record").status == 405)
        #expect(await world.service.status().session == nil)
        try await world.end()
    }

    @Test("ON and OFF on the feed within milliseconds end in the last one")
    func quick() async throws {
        let world = try await ServiceWorld()
        try await world.untilUp()
        try await until("the feed is there") { await world.service.status().applied == .off }

        let account = ["-h", "127.0.0.1", "-p", "\(world.io.simulator.mqttPort)", "-u", "ada", "-P", "key"]
        let words = (0..<20).map { $0.isMultiple(of: 2) ? "ON" : "OFF" }.joined(separator: "\n") + "\nON\n"
        try await ChildProcess.run("mosquitto_pub", account + ["-t", "ada/f/recording", "-l", "-q", "1"], input: words)
        try await until("it records") { await world.service.status().session != nil }
        let outcome = await world.service.control.command(.start)
        #expect(try await world.service.recorder.sessions().count { $0.state == .running } == 1)

        try await world.publish("OFF")
        try await until("it stops") { await world.service.status().applied == .off }
        if case .recording(let id) = outcome {
            #expect(try await world.service.recorder.session(id).endReason == .dashboard)
        } else {
            Issue.record("\(outcome)")
        }
        #expect(try await world.service.recorder.sessions().allSatisfy { $0.state == .ended })
        try await world.end()
    }

    @Test("a changed configuration keeps what is the same, makes what is new, and a wrong one changes nothing")
    func reload() async throws {
        let world = try await ServiceWorld()
        try await world.untilUp()
        _ = await world.service.control.command(.start)
        try world.rewrite(
            ServiceWorld.host.replacingOccurrences(of: "every = \"100 ms\"", with: "every = \"nonsense\"")
        )
        await world.service.reload()
        #expect(world.talk.text.contains("the running configuration stays as it was"))
        #expect(await world.service.status().streams[Name(mapping: "host.load")]?.askedHertz == 10)

        let rule =
            "\n[[rule]]\nstream = \"host.load\"\nfield = \"five_minutes\"\nfeed = \"five\"\nevery = \"1 s\"\nalways = true\n"
        try world.rewrite(
            ServiceWorld.host.replacingOccurrences(of: "every = \"100 ms\"", with: "every = \"200 ms\"") + rule
        )
        async let first: Void = world.service.reload()
        async let second: Void = world.service.reload()
        _ = await (first, second)

        let status = await world.service.status()
        #expect(status.session == 1)
        #expect(status.delivery.link == .mqtt)
        #expect(status.streams[Name(mapping: "host.load")]?.askedHertz == 5)
        let client = try AdafruitIOClient(try world.io.configuration(), key: Secret("key"))
        try await until("the new feed has a value") {
            (try? await client.lastPoint(in: feed("five"))) != nil
        }
        #expect(try await client.feed(feed("five")).value.visibility == .private)
        try await world.end()
    }

    @Test("a service that is away does not hold up a changed configuration")
    func reloadWhileAway() async throws {
        let world = try await ServiceWorld()
        await world.io.simulator.stop()

        await world.service.reload()
        await world.service.reload()

        #expect(world.talk.text.contains("the configuration has been read"))
        try await world.end()
    }

    @Test("the end of the program tells the status feed that nothing is recorded any more")
    func goodbye() async throws {
        let world = try await ServiceWorld()
        try await world.untilUp()
        _ = await world.service.control.command(.start)
        let client = try AdafruitIOClient(try world.io.configuration(), key: Secret("key"))
        for (name, text) in [("recording-status", "recording 1"), ("recording", "ON")] {
            try await until("feed \(name) says so") {
                (try? await client.lastPoint(in: feed(name)))?.value.value == text
            }
        }

        try await world.stopBridge()

        #expect(try await client.lastPoint(in: feed("recording-status")).value.value == "stopped")
        // What the user wants is as before: a restart goes on.
        #expect(try await client.lastPoint(in: feed("recording")).value.value == "ON")
        await world.io.simulator.stop()
    }

    @Test("a port in use stops the start with the place and the remedy, and leaves nothing running")
    func portInUse() async throws {
        let io = try SimulatedIO()
        let context = try io.context("[http]\nlisten = \"127.0.0.1:\(io.simulator.httpPort)\"\n")
        let configuration = try context.configuration()
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: "feedbridge.toml")
        let service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: [:],
            time: SystemTime(),
            log: .silent
        )

        let error = await #expect(throws: ConfigurationError.self) { try await service.run([]) }

        #expect(error?.description.contains("[http] Cannot listen on") == true)
        #expect(error?.description.contains("Stop it, or choose another address") == true)
        #expect(access(directory.socket, F_OK) != 0)
        // The recordings are free again.
        let store = try await RecorderStore.open(folder: directory.path)
        try await store.close()
        await io.simulator.stop()
    }

    @Test("metrics are numbers that Prometheus understands, and healthz tells the link")
    func metrics() async throws {
        let world = try await ServiceWorld()
        try await world.untilUp()
        _ = await world.service.control.command(.start)
        try await until("samples came") { !(await world.service.status().streams.isEmpty) }

        let text = MetricsText.text(await world.service.status())

        #expect(text.contains("# TYPE feedbridge_link_up gauge\nfeedbridge_link_up 1.0\n"))
        #expect(text.contains("feedbridge_recording 1.0\n"))
        #expect(text.contains("feedbridge_samples_total{stream=\"host.load\"} "))
        // Every line is a comment or a number of a metric whose kind was told before.
        var kinds: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge)/) {
                #expect(kinds.updateValue(match.2, forKey: match.1) == nil)
                #expect(match.1.hasSuffix("_total") == (match.2 == "counter"))
            } else if !line.hasPrefix("# HELP ") {
                let match = try #require(
                    line.wholeMatch(of: /([a-z_]+)(?:\{[a-z]+="[a-z0-9_.-]+"\})? ([0-9.e+-]+)/),
                    "\(line)"
                )
                #expect(kinds[match.1] != nil)
                #expect(Double(match.2) != nil)
            }
        }
        try await world.end()
    }

    @Test(
        "promtool finds nothing to complain about in the metrics",
        .enabled(
            if: ServiceTests.hasPromtool,
            "SKIPPED: promtool is not installed (Debian's package prometheus has it)"
        )
    )
    func promtool() async throws {
        let world = try await ServiceWorld()
        try await until("samples came") { !(await world.service.status().streams.isEmpty) }
        let text = MetricsText.text(await world.service.status())

        let said = try await ChildProcess.run("promtool", ["check", "metrics"], input: text)

        #expect(said.isEmpty)
        try await world.end()
    }

    private static let hasPromtool =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            access("\($0)/promtool", X_OK) == 0
        }
}
