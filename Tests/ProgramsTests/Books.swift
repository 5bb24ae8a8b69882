import FastJSON
import Foundation
import TestKit
import Testing

/// What the outbox says it has delivered against what stands on the simulator.
///
/// Two feeds of the time since boot, which is never the same twice: a value that stands there twice was sent twice.
struct Books {
    /// Makes five points a second, and loses patience soon.
    static let rules = """
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

    private static let quiet = """
        fallback_after = "1 s"
        settle = "1 s"
        """

    let simulator: SimulatorProcess
    let bridge: BridgeProcess

    /// Waits until the outbox has accepted so many more points; what the bridge says then.
    @discardableResult
    func untilAccepted(_ more: Int) async throws -> BridgeProcess.Status {
        let start = try await answer().points.accepted
        try await until("\(more) more points are accepted") { try await answer().points.accepted >= start + more }
        return try await answer()
    }

    /// Its status, as soon as it gives one.
    func answer() async throws -> BridgeProcess.Status {
        try await until("the bridge answers") { (try? await bridge.status()) != nil }
        return try await bridge.status()
    }

    /// Ends the bridge, lets everything that waits go out without new points, and compares.
    ///
    /// - Returns: how many points the outbox had accepted, and how many stand on the simulator more than once.
    @discardableResult
    func close(_ running: ChildProcess) async throws -> (accepted: Int, doubles: Int) {
        running.signal(SIGTERM)
        _ = try await running.ended()
        let quiet = try BridgeProcess(simulator, account: Self.quiet, state: bridge)
        let drain = try quiet.run()
        try await until("the rest has left") { (try? await quiet.status())?.points.pending == 0 }
        let json = try JSON.parse(try await quiet.feedbridge("outbox", "stats", "--json"))
        drain.signal(SIGTERM)
        _ = try await drain.ended()
        func count(_ key: String) -> Int { json[key]?.int ?? -1 }

        let accepted = count("accepted")
        #expect(accepted > 0 && count("refused") == 0 && count("evicted") == 0 && count("pending") == 0)
        #expect(accepted == count("confirmed"), "accepted = confirmed + refused + evicted + pending")
        var (distinct, doubles) = (0, 0)
        for feed in ["uptime", "uptime-max"] {
            let values = try await simulator.values(feed)
            distinct += Set(values).count
            doubles += values.count - Set(values).count
            // The service's list is sorted by created_at; a point by MQTT is late by at most `live_within`.
            for (earlier, later) in zip(values, values.dropFirst()) { #expect(later > earlier - 5) }
        }
        #expect(distinct == accepted, "every point that was accepted is there")
        #expect(doubles <= count("doubt"), "none stands there twice without being counted")
        return (accepted, doubles)
    }
}
