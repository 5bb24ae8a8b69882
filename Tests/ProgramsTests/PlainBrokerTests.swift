import FastJSON
import Foundation
import TestKit
import Testing

@Suite("feedbridge run with a plain broker", .timeLimit(.minutes(10)))
struct PlainBrokerTests {
    private static let host = """
        [[sampler]]
        kind = "host"
        every = "100 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        every = "200 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime-max"
        reduce = "max"
        every = "500 ms"
        always = true
        """

    @Test("a retained message is the switch, its status is retained, and the will says offline after kill -9")
    func wholeWay() async throws {
        let broker = try await Broker.start()
        let bridge = try PlainBridge(broker, Self.host)
        let listener = try await broker.subscriber(["-t", "home/shed/#", "-q", "1"])
        let first = try bridge.run()
        try await bridge.untilUp()

        // Nobody has said anything: the bridge says what it does.
        try await bridge.untilRetained("OFF", on: "home/switch")
        try await bridge.untilRetained("stopped", on: "home/status")
        try await listener.untilOutput(contains: #"home/shed/uptime {"value":"#)
        try await broker.publish("ON", to: "home/switch", ["-r"])
        try await bridge.untilRetained("recording 1", on: "home/status")
        let status = try await bridge.status()
        #expect(status["recording"]?.bool == true)
        #expect(status["switch"]?["source"]?.string == "dashboard")
        #expect(status["reason"]?.string == "ok")
        #expect(status["budget"]?["limit"] == .null)
        #expect(status["budget"]?["left"] == .null)
        let text = try await bridge.feedbridge("status")
        #expect(text.contains("budget     no limit"))
        #expect(!text.contains("?"))

        first.signal(SIGKILL)
        _ = try await first.ended()
        try await bridge.untilRetained("offline", on: "home/status")
        #expect(try await bridge.retained("home/switch") == "ON", "the switch stays where the user left it")

        let second = try bridge.run()
        try await bridge.untilRetained("recording 2", on: "home/status")
        try await broker.publish("stop", to: "home/switch", ["-r"])
        try await bridge.untilRetained("stopped", on: "home/status")
        // A local command stands on the topic afterwards, so that all who look at it know.
        _ = try await bridge.feedbridge("record", "start")
        try await bridge.untilRetained("ON", on: "home/switch")
        try await bridge.untilRetained("recording 3", on: "home/status")
        second.signal(SIGTERM)
        #expect(try await second.ended() == 0)
        try await bridge.untilRetained("offline", on: "home/status")
        #expect(second.isRunning == false)
        #expect(!listener.output.contains("home/shed/recording"))
    }

    @Test("what was turned off while nobody looked is followed at the next connection")
    func followsRetained() async throws {
        let broker = try await Broker.start()
        try await broker.publish("ON", to: "home/switch", ["-r"])
        let bridge = try PlainBridge(broker, "")
        let run = try bridge.run()

        try await bridge.untilRetained("recording 1", on: "home/status")
        try await broker.stop()
        try await until("the link is down") { (try? await bridge.status())?["link"]?.string == "none" }
        let status = try await bridge.status()
        #expect(status["recording"]?.bool == true, "a broker that is gone stops nothing")
        // It comes back with nothing retained but the user's new word.
        try await broker.restart()
        try await broker.publish("OFF", to: "home/switch", ["-r"])
        try await bridge.untilRetained("stopped", on: "home/status")
        #expect(try await bridge.retained("home/switch") == "OFF")
        #expect(run.isRunning)
    }

    @Test("killed again and again, all that was accepted arrives, in order, and copies are counted as doubtful")
    func killed() async throws {
        let kills = Int(ProcessInfo.processInfo.environment["FEEDBRIDGE_KILLS"] ?? "") ?? 6
        let broker = try await Broker.start()
        let listener = try await broker.subscriber(["-t", "home/shed/#", "-q", "1"])
        let bridge = try PlainBridge(broker, Self.host)
        for life in 0..<kills {
            let run = try bridge.run()
            // However it dies: before it is ready, while it connects, while it sends.
            try await Task.sleep(for: .milliseconds((life * 7919) % 1500 + 50))
            run.signal(SIGKILL)
            _ = try await run.ended()
        }
        let last = try bridge.run()
        try await bridge.untilUp()
        try await until("everything has left") {
            let stats = try await bridge.stats()
            return stats["accepted"] ?? 0 > 0 && stats["pending"] ?? 9 <= 2
        }
        last.signal(SIGTERM)
        _ = try await last.ended()
        let quiet = try PlainBridge(broker, "", state: bridge)
        let drain = try quiet.run()
        try await quiet.untilUp()
        try await until("the rest has left") { try await quiet.stats()["pending"] == 0 }

        let counts = try await quiet.stats()
        let accepted = counts["accepted"] ?? 0
        try await until("all of \(accepted) are recorded") { Set(Self.points(listener)).count >= accepted }
        let points = Self.points(listener)
        #expect(counts["refused"] == 0 && counts["evicted"] == 0)
        #expect(counts["confirmed"] == accepted)
        #expect(Set(points).count == accepted)
        #expect(points.count <= accepted + (counts["doubt"] ?? 0), "no copy that was not counted")
        for topic in ["uptime ", "uptime-max "] {
            var seen: Set<String> = []
            let times = points.filter { $0.hasPrefix("home/shed/\(topic)") && seen.insert($0).inserted }
                .map { String($0.suffix(26)) }
            #expect(times == times.sorted(), "in order")
        }
        #expect(drain.isRunning)
    }

    private static func points(_ listener: ChildProcess) -> [String] {
        listener.output.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("home/shed/") && $0.hasSuffix("}")
        }
    }

    @Test("check lists topics and knows no limit, and dashboards are refused with a sentence")
    func commands() async throws {
        let broker = try await Broker.start()
        let bridge = try PlainBridge(broker, Self.host)

        let text = try await bridge.feedbridge("check")
        #expect(text.contains("Topics used: home/shed/uptime, home/shed/uptime-max"))
        #expect(text.contains("Switch: home/switch, status: home/status, both retained"))
        #expect(text.contains("any number"))
        #expect(!text.contains("Warning"))
        let report = try JSON.parse(try await bridge.feedbridge("check", "--json"))
        #expect(report["plan"] == .null)
        #expect(
            report["topics"]?.array?.compactMap(\.string) == [
                "home/switch", "home/status", "home/shed/uptime", "home/shed/uptime-max",
            ]
        )
        let refused = try ChildProcess(
            BuiltPrograms.feedbridge,
            ["dashboard", "create", "--config", bridge.folder.file("feedbridge.toml")]
        )
        #expect(try await refused.ended() == 1)
        #expect(refused.talk.contains("dashboards are Adafruit IO's, a plain broker has none"))
    }

    @Test("a broker with users wants name and password; a wrong one is named as the reason")
    func users() async throws {
        let broker = try await Broker.start { $0.users = ["ada": "secret"] }
        let folder = TemporaryDirectory()
        try folder.write("wrong\n", to: "password")
        chmod(folder.file("password"), 0o600)
        let account = "username = \"ada\"\nkey_file = \"\(folder.file("password"))\""
        let bridge = try PlainBridge(broker, "", account: account)
        let run = try bridge.run()
        try await until("the reason is told") { (try? await bridge.status())?["reason"]?.string == "key-refused" }
        try folder.write("secret\n", to: "password")
        chmod(folder.file("password"), 0o600)
        run.signal(SIGHUP)
        try await bridge.untilUp()
        #expect(!run.talk.contains("secret"))
    }
}
