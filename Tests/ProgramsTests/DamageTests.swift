import FastJSON
import Foundation
import TestKit
import Testing

@Suite("A bridge whose files were damaged", .timeLimit(.minutes(5)))
struct DamageTests {
    private static let rules = """
        fallback_after = "2 s"

        [[sampler]]
        kind = "host"
        every = "50 ms"
        always = true

        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "uptime"
        reduce = "last"
        every = "100 ms"
        always = true
        """

    enum Damage: String, CaseIterable, Sendable {
        case zeros
        case truncated
        case flippedPages
        case flippedLog
    }

    private func spoil(_ path: String, _ damage: Damage) throws {
        let target = damage == .flippedLog ? path + "-wal" : path
        var data = try Data(contentsOf: URL(fileURLWithPath: target))
        switch damage {
        case .zeros: data = Data(count: data.count)
        // Shorter than its own header says, whatever the log has.
        case .truncated: data = data.prefix(3000)
        case .flippedPages:
            for start in stride(from: 0, to: data.count, by: 4096) {
                for place in start..<min(start + 8, data.count) { data[place] ^= 0x5a }
            }
        case .flippedLog: data[data.count / 3] ^= 0x10
        }
        try data.write(to: URL(fileURLWithPath: target))
        // The log's index is made anew, as after a power cut; with zeros and a cut the log is gone, too.
        try? FileManager.default.removeItem(atPath: path + "-shm")
        if damage == .zeros || damage == .truncated { try? FileManager.default.removeItem(atPath: path + "-wal") }
    }

    @Test(
        "each is set aside, a new one begins at once, and status, check and the log say so",
        arguments: Damage.allCases
    )
    func damaged(_ damage: Damage) async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: Self.rules)
        let run = try bridge.run()
        try await bridge.untilUp()
        try await simulator.publish("ON", to: "recording")
        try await until("it records") { try await bridge.status().recording }
        try await simulator.stop()
        try await until("points wait") { try await bridge.status().points.pending > 20 }
        // What is flipped has to stand in the file, and not only in its log.
        run.signal(damage == .flippedPages ? SIGTERM : SIGKILL)
        _ = try await run.ended()
        let pending = try #require(
            try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))["pending"]?.int
        )
        let recorded = try #require(try await bridge.sessions().first?.samples["host.uptime"])
        for name in ["outbox", "recordings", "state"] { try spoil("\(bridge.stateFolder)/\(name).sqlite", damage) }

        try await simulator.restart()
        let again = try bridge.run()
        try await until("it answers") {
            if !again.isRunning { return true }
            return (try? await bridge.status()) != nil
        }
        #expect(again.isRunning, "\(again.talk)")

        let status = try JSON.parse(try await bridge.feedbridge("status", "--json"))
        let aside = (status["set_aside"]?.array ?? []).compactMap(\.string)
        for name in ["outbox", "recordings", "state"] {
            let file = try #require(aside.first { $0.contains("/\(name).corrupt-") }, "\(name): \(aside)")
            #expect(again.talk.contains(file))
            #expect(try await bridge.feedbridge("check").contains(file))
            #expect(try await bridge.feedbridge("status").contains("set aside  \(file)"))
            #expect(
                FileManager.default.fileExists(atPath: file) || FileManager.default.fileExists(atPath: file + "-wal")
            )
        }
        #expect(aside.count == 3)
        let check = try JSON.parse(try await bridge.feedbridge("check", "--json"))
        #expect(check["warnings"]?.array?.count == 3)
        // New points and samples are taken at once and sent, after a minute when nobody knows what was sent before.
        let before = try await bridge.status().points.accepted
        try await until("new points come") { try await bridge.status().points.accepted > before + 5 }
        // With each page spoiled nothing but the files themselves is left; with one bit in the log nearly all is.
        if damage == .flippedLog {
            try await until("what was in the outbox is back") {
                try await bridge.status().points.accepted >= pending
            }
            try await until("what was recorded is back") {
                let session = try await bridge.sessions().first { $0.id == 1 }
                // What stood on the damaged page is lost.
                return (session?.samples["host.uptime"] ?? 0) > recorded / 2
            }
            #expect(try await bridge.status().switch.wanted == "on")
        }
        again.signal()
        #expect(try await again.ended() == 0)
        let stats = try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))
        func count(_ key: String) -> Int { stats[key]?.int ?? -1 }
        #expect(count("accepted") == count("confirmed") + count("refused") + count("evicted") + count("pending"))
    }
}
