import Foundation
import TestKit
import Testing

@Suite("The whole way, with the real programs", .timeLimit(.minutes(5)))
struct WholeWayTests {
    @Test("values of this machine arrive, a published ON starts a session, OFF ends it, and the export is there")
    func wholeWay() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let run = try bridge.run()
        try await bridge.untilUp()

        try await until("a value has arrived") { try await simulator.last("load") != nil }
        try await simulator.publish("ON", to: "recording")
        try await until("a session runs") { try await bridge.sessions().last?.state == "running" }
        try await until("its samples are recorded") {
            (try await bridge.sessions().last?.samples["host.load"] ?? 0) > 2
        }
        try await until("the status feed says so") { try await simulator.last("recording-status") == "recording 1" }
        _ = try await bridge.feedbridge("record", "mark", "here")
        try await simulator.publish("OFF", to: "recording")
        try await until("the session has ended") { try await bridge.sessions().last?.state == "ended" }

        #expect(try await bridge.sessions().map(\.reason) == ["dashboard"])
        let folder = TemporaryDirectory()
        _ = try await bridge.feedbridge("sessions", "export", "1", "--format", "csv", "--output", folder.path)
        let lines = try folder.read("host.load.csv").split(separator: "\n")
        #expect(lines.first == "time_ns,one_minute,five_minutes,fifteen_minutes")
        #expect(lines.count > 3)
        #expect(try await bridge.feedbridge("sessions", "show", "1").contains("here"))
        run.signal(SIGTERM)
        #expect(try await run.ended() == 0)
    }

    @Test("a local command moves the toggle, both ways")
    func localCommand() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let run = try bridge.run()
        try await bridge.untilUp()

        #expect(try await bridge.feedbridge("record", "start") == "recording 1\n")
        try await until("the control feed says ON") { try await simulator.last("recording") == "ON" }
        #expect(try await bridge.feedbridge("record", "toggle") == "stopped\n")
        try await until("the control feed says OFF") { try await simulator.last("recording") == "OFF" }

        #expect(run.isRunning)
        #expect(try await bridge.sessions().map(\.state) == ["ended"])
    }

    @Test(
        "after a restart of the simulator, with its data and without, bridge and toggle agree",
        arguments: [true, false]
    )
    func simulatorRestarts(keepsData: Bool) async throws {
        let simulator = try await SimulatorProcess(data: keepsData)
        let bridge = try BridgeProcess(simulator)
        let run = try bridge.run()
        try await bridge.untilUp()
        try await simulator.publish("ON", to: "recording")
        try await until("a session runs") { try await bridge.status().recording }

        try await simulator.stop()
        try await until("the link is down") { try await bridge.status().link == "none" }
        #expect(try await bridge.status().recording)
        try await simulator.restart()
        try await until("the link is up again") { try await bridge.status().link == "mqtt" }

        try await until("the control feed says what the bridge does") {
            try await simulator.last("recording") == "ON"
        }
        #expect(try await bridge.status().switch.applied == "on")
        try await simulator.publish("OFF", to: "recording")
        try await until("the toggle works again") { try await !bridge.status().recording }
        #expect(run.isRunning)
    }

    @Test("SIGTERM while recording ends the session, and a restart goes on recording because the toggle says so")
    func restart() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let first = try bridge.run()
        try await bridge.untilUp()
        try await simulator.publish("ON", to: "recording")
        try await until("a session runs") { try await bridge.status().recording }

        first.signal(SIGTERM)
        #expect(try await first.ended() == 0)
        #expect(try await bridge.sessions().map(\.state) == ["ended"])
        let second = try bridge.run()
        try await until("it records again") { (try? await bridge.status())?.recording == true }

        #expect(try await bridge.sessions().map(\.state) == ["ended", "running"])
        #expect(second.isRunning)
    }

    @Test("a killed bridge leaves its session readable and marked as interrupted")
    func killed() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let first = try bridge.run()
        try await bridge.untilUp()
        _ = try await bridge.feedbridge("record", "start")
        try await until("samples are recorded") { (try await bridge.sessions().last?.samples["host.load"] ?? 0) > 3 }
        let before = try await bridge.sessions().last?.samples["host.load"] ?? 0

        first.signal(SIGKILL)
        _ = try await first.ended()
        let second = try bridge.run()
        try await until("the second one runs") { (try? await bridge.status()) != nil }

        let session = try #require(try await bridge.sessions().first)
        #expect(session.state == "interrupted")
        #expect(session.samples["host.load"] ?? 0 >= before)
        #expect(second.isRunning)
    }

    @Test("SIGHUP takes a changed rule, and keeps the session running")
    func reload() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let run = try bridge.run()
        try await bridge.untilUp()
        _ = try await bridge.feedbridge("record", "start")

        let text = try bridge.folder.read("feedbridge.toml")
        try bridge.folder.write(
            text + "\n[[rule]]\nstream = \"host.uptime\"\nfield = \"seconds\"\nfeed = \"uptime\"\nevery = \"1 s\"\n",
            to: "feedbridge.toml"
        )
        run.signal(SIGHUP)

        try await until("the new rule publishes") { try await simulator.last("uptime") != nil }
        #expect(try await bridge.sessions().map(\.state) == ["running"])

        try bridge.folder.write(text + "\nnonsense = 1\n", to: "feedbridge.toml")
        run.signal(SIGHUP)
        try await run.untilOutput(contains: "the running configuration stays as it was")
        try bridge.folder.write(text, to: "feedbridge.toml")
        #expect(try await bridge.status().recording)
    }
}
