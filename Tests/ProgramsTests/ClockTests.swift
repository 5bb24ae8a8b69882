import FastJSON
import Foundation
import TestKit
import Testing

@Suite("A bridge and its clock", .timeLimit(.minutes(5)))
struct ClockTests {
    private static let rules = """
        settle = "2 s"

        [[sampler]]
        kind = "host"
        every = "100 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        reduce = "last"
        every = "300 ms"
        always = true
        """

    private func confirmed(_ bridge: BridgeProcess) async throws -> Int { try await bridge.status().points.confirmed }

    private func more(_ bridge: BridgeProcess) async throws {
        let before = try await confirmed(bridge)
        try await until("points go on") { try await confirmed(bridge) > before + 5 }
    }

    /// The times of all points of the feed, in seconds.
    private func times(_ simulator: SimulatorProcess) async throws -> [Double] {
        try await simulator.points("uptime").compactMap { Double($0.split(separator: " ")[1]) }
    }

    @Test("1970 at boot: points get the service's time, and the recording its own when the clock is set")
    func epoch() async throws {
        let clock = try await ShiftedClock()
        let start = Date.now.timeIntervalSince1970
        try clock.set(aheadBy: -Int(start))
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: Self.rules)
        let run = try bridge.run(clock.environment)
        try await bridge.untilUp()
        _ = try await bridge.feedbridge("record", "start")
        try await more(bridge)
        #expect(run.talk.contains("s behind the service's"))

        try clock.set(aheadBy: 0)
        try await until("it is noticed") { run.talk.contains("the clock is right again") }
        try await until("the recording is put right") {
            run.talk.contains("recorded with a wrong clock got its right time")
        }
        try await more(bridge)
        _ = try await bridge.feedbridge("record", "stop")
        run.signal()
        #expect(try await run.ended() == 0)

        let end = Date.now.timeIntervalSince1970
        let times = try await times(simulator)
        #expect(times.count > 10 && times.allSatisfy { $0 > start - 3 && $0 < end + 3 }, "\(times)")
        let counts = try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))
        #expect(counts["evicted"]?.int == 0 && counts["refused"]?.int == 0)
        let query = try await bridge.feedbridge(
            "query",
            "--stream",
            "host.uptime",
            "--from",
            "1970-01-01T00:00:00Z",
            "--to",
            "now"
        )
        let samples = query.split(separator: "\n").dropFirst().compactMap { line in
            line.split(separator: ",").first.flatMap { Double($0) }.map { $0 / 1e9 }
        }
        #expect(samples.count > 20 && samples.allSatisfy { $0 > start - 1 && $0 < end + 1 }, "\(samples.prefix(5))")
        // By the boot-time clock they are as far apart as they were taken: nothing is out of order.
        #expect(samples == samples.sorted())
        let session = try JSON.parse(try await bridge.feedbridge("sessions", "list", "--json")).array?.first
        #expect(session?["start"]?.string?.hasPrefix("1970") == false)
    }

    @Test(
        "the clock set back a day or ahead ten years: the link stays, points arrive with the right time",
        arguments: [
            -86_400, 10 * 365 * 86_400,
        ]
    )
    func jump(seconds: Int) async throws {
        let clock = try await ShiftedClock()
        let start = Date.now.timeIntervalSince1970
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: Self.rules)
        let run = try bridge.run(clock.environment)
        try await bridge.untilUp()
        try await more(bridge)

        try clock.set(aheadBy: seconds)
        try await until("it is noticed") { run.talk.contains("s behind the service's") }
        try await more(bridge)
        #expect(try await bridge.status().link == "mqtt")
        try clock.set(aheadBy: 0)
        try await until("it is noticed") { run.talk.contains("the clock is right again") }
        try await more(bridge)
        run.signal()
        #expect(try await run.ended() == 0)

        #expect(!run.talk.contains("MQTT is down"), "\(run.talk)")
        let end = Date.now.timeIntervalSince1970
        let times = try await times(simulator)
        #expect(times.count > 15 && times.allSatisfy { $0 > start - 3 && $0 < end + 3 }, "\(times)")
        let counts = try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))
        #expect(counts["evicted"]?.int == 0 && counts["refused"]?.int == 0)
    }
}
