import FastJSON
import Foundation
import TestKit
import Testing

/// Crashes at moments that nobody chose. `FEEDBRIDGE_KILLS` says how many; every night there are more.
@Suite("A bridge that is killed again and again", .timeLimit(.minutes(60)))
struct KillTests {
    private static let rules = """
        fallback_after = "1 s"
        settle = "1 s"

        [[sampler]]
        kind = "host"
        every = "100 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        every = "300 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime-max"
        reduce = "max"
        every = "500 ms"
        always = true
        """

    @Test("every point that the outbox had accepted stands on the service, once, or is counted as doubtful")
    func nothingIsLost() async throws {
        let kills = Int(ProcessInfo.processInfo.environment["FEEDBRIDGE_KILLS"] ?? "") ?? 20
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let bridge = try BridgeProcess(simulator, account: Self.rules)
        var lives = Dice(state: 7)
        for _ in 0..<kills {
            let run = try bridge.run()
            // However it dies: before it is ready, while it connects, while it sends.
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...1200, using: &lives)))
            run.signal(SIGKILL)
            _ = try await run.ended()
        }
        let last = try bridge.run()
        try await bridge.untilUp()
        // No new points: what waits goes out.
        try await until("everything has left", within: .seconds(120)) {
            let points = try await bridge.status().points
            return points.accepted > 0 && points.pending <= 2
        }
        last.signal(SIGTERM)
        _ = try await last.ended()
        let quiet = try BridgeProcess(simulator, account: Self.quiet, state: bridge)
        let drain = try quiet.run()
        try await quiet.untilUp()
        try await until("the rest has left", within: .seconds(120)) { try await quiet.status().points.pending == 0 }

        let counts = try await stats(quiet)
        let stored = try await simulator.points("uptime") + simulator.points("uptime-max")
        #expect(counts["refused"] == 0 && counts["evicted"] == 0)
        #expect(counts["accepted"] == counts["confirmed"])
        let accepted = counts["accepted"] ?? 0
        #expect(Set(stored).count == accepted, "every point is there")
        #expect(stored.count <= accepted + (counts["doubt"] ?? 0), "none stands there twice without being counted")
        #expect(drain.isRunning)
    }

    /// The same account without rules and samplers.
    private static let quiet = """
        fallback_after = "1 s"
        settle = "1 s"
        """

    private func stats(_ bridge: BridgeProcess) async throws -> [String: Int] {
        let json = try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))
        let members = json.object ?? [:]
        return Dictionary(uniqueKeysWithValues: members.compactMap { key, value in value.int.map { (key, $0) } })
    }
}

/// Reproducible dice (SplitMix64).
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
