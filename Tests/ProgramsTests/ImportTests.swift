import FastJSON
import Foundation
import TestKit
import Testing

@Suite("feedbridge import health", .timeLimit(.minutes(5)))
struct ImportHealthTests {
    private static func record(_ type: String, _ value: String, _ start: String, _ end: String, _ source: String)
        -> String
    {
        "<Record type=\"HKQuantityTypeIdentifier\(type)\" sourceName=\"\(source)\" unit=\"count\" "
            + "startDate=\"\(start)\" endDate=\"\(end)\" value=\"\(value)\"/>\n"
    }

    /// Three days around the night in which the clocks of Madrid went forward.
    private static let document =
        "<HealthData>\n"
        + record("StepCount", "90", "2024-03-30 23:30:00 +0100", "2024-03-31 01:00:00 +0100", "iPhone")
        + record("StepCount", "2300", "2024-03-31 00:00:00 +0100", "2024-04-01 00:00:00 +0200", "Apple Watch")
        + record("FlightsClimbed", "4", "2024-04-01 10:00:00 +0200", "2024-04-01 10:10:00 +0200", "iPhone")
        + "</HealthData>\n"

    private func days(_ bridge: BridgeProcess, _ arguments: String...) async throws -> [String] {
        let file = try bridge.folder.write(Self.document, to: "export.xml")
        let child = try ChildProcess(
            BuiltPrograms.feedbridge,
            ["import", "health", file, "--json", "--config", bridge.configuration] + arguments,
            environment: ["TZ": "Europe/Madrid", "PATH": "/usr/bin:/bin"]
        )
        let code = try await child.ended()
        #expect(code == 0, "\(child.talk)")
        return (try JSON.parse(child.output).array ?? []).map { day in
            "\(day["day"]?.string ?? "") \(day["steps"]?.serialized() ?? "-") \(day["floors"]?.serialized() ?? "-")"
        }
    }

    private static let expected = ["2024-03-30 30 -", "2024-03-31 2300 -", "2024-04-01 - 4"]

    @Test("days are those of the time zone, and the records are a session, with and without a running bridge")
    func imports() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        #expect(try await days(bridge) == Self.expected)

        let running = try bridge.run()
        try await until("the bridge answers") { (try? await bridge.feedbridge("status", "--json")) != nil }
        #expect(try await days(bridge) == Self.expected)
        let sessions = try JSON.parse(try await bridge.feedbridge("sessions", "list", "--json")).array ?? []
        #expect(sessions.compactMap { $0["reason"]?.string } == ["import", "import"])
        for session in sessions {
            #expect(session["samples"]?["health.steps"]?.int == 2)
            #expect(session["start"]?.string == "2024-03-31T00:00:00.000Z")
        }
        running.signal()
        #expect(try await running.ended() == 0)
    }

    @Test("days that the service still keeps go to the feed, dated at their noon, older ones are named and not sent")
    func publishes() async throws {
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator)
        let format = ISO8601DateFormatter()
        func day(_ daysAgo: Double) -> String {
            let noon = Date(
                timeIntervalSince1970: (Date().timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 + 43_200
            )
            return format.string(from: noon - daysAgo * 86_400).replacingOccurrences(of: "T", with: " ")
        }
        let document =
            "<HealthData>"
            + [(1.0, "700"), (2, "500"), (60, "900")].map { Self.record("StepCount", $1, day($0), day($0), "iPhone") }
            .joined() + "</HealthData>"
        let file = try bridge.folder.write(document, to: "export.xml")
        let child = try ChildProcess(
            BuiltPrograms.feedbridge,
            ["import", "health", file, "--publish", "steps-a-day", "--config", bridge.configuration],
            environment: ["TZ": "UTC", "PATH": "/usr/bin:/bin"]
        )
        #expect(try await child.ended() == 0)
        #expect(child.talk.contains("2 days were queued for feed steps-a-day; 1 are older"), "\(child.talk)")

        let running = try bridge.run()
        try await until("both days are there") { try await simulator.points("steps-a-day").count == 2 }
        let points = try await simulator.points("steps-a-day").sorted()
        let noon = Int(Date().timeIntervalSince1970) / 86_400 * 86_400 + 43_200
        #expect(points == ["steps-a-day \(noon - 172_800) 500", "steps-a-day \(noon - 86_400) 700"])
        running.signal()
        #expect(try await running.ended() == 0)
    }
}
