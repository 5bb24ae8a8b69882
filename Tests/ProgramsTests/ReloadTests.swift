import Foundation
import TestKit
import Testing

@Suite("A changed configuration while points wait", .timeLimit(.minutes(5)))
struct ReloadTests {
    private static func rules(_ every: String) -> String {
        """
        fallback_after = "2 s"

        [[sampler]]
        kind = "host"
        every = "100 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        reduce = "last"
        every = "\(every)"
        always = true
        """
    }

    @Test("reading it again, and connecting again, never touches the points that wait")
    func keepsPoints() async throws {
        let simulator = try await SimulatorProcess(data: true)
        let bridge = try BridgeProcess(simulator, account: Self.rules("200 ms"))
        let run = try bridge.run()
        try await bridge.untilUp()
        try await simulator.stop()
        try await until("points wait") { try await bridge.status().points.pending > 20 }
        for every in ["300 ms", "400 ms", "500 ms"] {
            let before = try await bridge.status().points
            _ = try BridgeProcess(simulator, account: Self.rules(every), state: bridge)
            let said = run.talk.components(separatedBy: "the configuration has been read").count
            run.signal(SIGHUP)
            try await until("it is read") {
                run.talk.components(separatedBy: "the configuration has been read").count > said
            }
            let after = try await bridge.status().points
            #expect(after.accepted >= before.accepted && after.pending >= before.pending)
            #expect(after.accepted == after.confirmed + after.pending)
        }
        let waiting = try await bridge.status().points

        try await simulator.restart()
        try await until("all that waited has arrived") {
            try await bridge.status().points.confirmed >= waiting.accepted
        }
        run.signal()
        #expect(try await run.ended() == 0)
        let stored = try await simulator.points("uptime")
        #expect(Set(stored).count >= waiting.accepted)
    }
}
