import FastJSON
import Foundation
import TestKit
import Testing

/// A bridge whose samples come ten times and whose points five times a second.
private let rules = """
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
    every = "200 ms"
    always = true
    """

extension BridgeProcess {
    /// The whole of `status --json`.
    fileprivate func report() async throws -> JSON {
        try JSON.parse(try await feedbridge("status", "--json"))
    }

    fileprivate func until(_ what: String, _ condition: @Sendable (JSON) -> Bool) async throws {
        try await TestKit.until(what) {
            guard let report = try? await self.report() else { return false }
            return condition(report)
        }
    }
}

extension JSON {
    fileprivate var isBalanced: Bool {
        func count(_ key: String) -> Int { self["points"]?[key]?.int ?? -1 }
        return count("accepted") > 0
            && count("accepted") == count("confirmed") + count("refused") + count("evicted") + count("pending")
    }
    fileprivate var confirmed: Int { self["points"]?["confirmed"]?.int ?? 0 }
    fileprivate var accepted: Int { self["points"]?["accepted"]?.int ?? 0 }
    fileprivate var problems: [String] { (self["problems"]?.array ?? []).compactMap(\.string) }
    fileprivate var good: Int { self["streams"]?["host.uptime"]?["good"]?.int ?? 0 }
}

@Suite("A bridge and its disk", .timeLimit(.minutes(5)))
struct DiskTests {
    @Test(
        "full: the bridge goes on, says disk-full, counts what it drops by feed, and recovers by itself",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func full() async throws {
        let disk = try #require(SmallDisk(bytes: 8 << 20))
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: rules, stateFolder: disk.folder.path)
        let run = try bridge.run()
        try await bridge.untilUp()
        _ = try await bridge.feedbridge("record", "start")
        try await bridge.until("points arrive") { $0.confirmed > 3 }

        disk.fill()
        try await bridge.until("it says so") { $0["reason"]?.string == "disk-full" }
        try await bridge.until("points are dropped and counted by their feed") {
            ($0["evicted"]?["uptime"]?["disk"]?.int ?? 0) > 5
        }
        let full = try await bridge.report()
        #expect(full["link"]?.string == "mqtt" && full.isBalanced)
        #expect(full.problems.contains { $0.contains("the disk is full") && $0.contains("Free space") })
        let words = try await bridge.feedbridge("status")
        #expect(words.contains("disk-full") && words.contains("evicted  uptime"), "\(words)")
        #expect(run.isRunning)

        disk.makeRoom()
        try await bridge.until("all is well") { $0["reason"]?.string == "ok" && $0.problems.isEmpty }
        let before = try await bridge.report()
        try await bridge.until("points arrive again") { $0.confirmed > before.confirmed + 5 }
        try await bridge.until("samples come") { $0.good > before.good + 5 }
        _ = try await bridge.feedbridge("record", "stop")
        let after = try await bridge.report()
        #expect(after.isBalanced)
        #expect(after["evicted"]?["uptime"]?["disk"] == before["evicted"]?["uptime"]?["disk"])
        run.signal()
        #expect(try await run.ended() == 0)
        #expect(run.talk.contains("the disk is full") && run.talk.contains("room on the disk again"))
        // What waited in memory meanwhile is in the session: nothing of it is missing.
        let session = try #require(try await bridge.sessions().first)
        #expect(session.state == "ended" && (session.samples["host.uptime"] ?? 0) > 10)
        let stats = try JSON.parse(try await bridge.feedbridge("outbox", "stats", "--json"))
        #expect((stats["evicted"]?.int ?? 0) > 5)
    }

    @Test(
        "full at the start: the bridge starts, knows its switch, and recovers by itself",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func fullAtStart() async throws {
        let disk = try #require(SmallDisk(bytes: 8 << 20))
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: rules, stateFolder: disk.folder.path)
        var run = try bridge.run()
        try await bridge.untilUp()
        try await simulator.publish("ON", to: "recording")
        try await bridge.until("it records") { $0["recording"]?.bool == true }
        run.signal(SIGKILL)
        _ = try await run.ended()
        disk.fill()

        run = try bridge.run()
        try await bridge.until("it says so") { $0["reason"]?.string == "disk-full" }
        #expect(try await bridge.report()["switch"]?["wanted"]?.string == "on")
        #expect(run.isRunning)

        disk.makeRoom()
        try await bridge.until("all is well") { $0["reason"]?.string == "ok" && $0.problems.isEmpty }
        try await bridge.until("it records again") { $0["recording"]?.bool == true }
        let report = try await bridge.report()
        try await bridge.until("points arrive") { $0.confirmed > report.confirmed + 3 && $0.isBalanced }
        run.signal()
        #expect(try await run.ended() == 0)
    }

    @Test(
        "read only at the start: one sentence says so; when it can be written it starts",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func readOnlyAtStart() async throws {
        let disk = try #require(SmallDisk(bytes: 8 << 20))
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: rules, stateFolder: disk.folder.path)
        let first = try bridge.run()
        try await bridge.untilUp()
        first.signal()
        _ = try await first.ended()
        #expect(disk.remount(readOnly: true))

        let refused = try bridge.run()
        #expect(try await refused.ended() != 0)
        #expect(refused.talk.contains("Read-only file system"), "\(refused.talk)")

        #expect(disk.remount(readOnly: false))
        let again = try bridge.run()
        try await bridge.untilUp()
        again.signal()
        #expect(try await again.ended() == 0)
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        var file: String
        var code: Int32

        var testDescription: String { "\(file): \(String(cString: strerror(code)))" }
    }

    static let failures = ["outbox.sqlite", "recordings.sqlite", "state.sqlite"].flatMap { file in
        [EIO, ENOSPC, EROFS].map { Failure(file: file, code: $0) }
    }

    @Test(
        "a disk that fails stops nothing for good: it is said, tried again, and the books balance",
        arguments: failures
    )
    func failing(_ failure: Failure) async throws {
        let disk = try await FailingDisk()
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(simulator, account: rules)
        let run = try bridge.run(disk.environment)
        try await bridge.untilUp()
        try await bridge.until("points arrive") { $0.confirmed > 3 }

        try disk.fail(failure.file, with: failure.code, reading: failure.code == EIO)
        // A change of the switch is what is written into `state`; samples and points come by themselves.
        try await simulator.publish("ON", to: "recording")
        try await bridge.until("it is said") { !$0.problems.isEmpty }
        let failing = try await bridge.report()
        if failure.code == ENOSPC { #expect(failing["reason"]?.string == "disk-full") }
        try await bridge.until("samples go on") { $0.good > failing.good + 5 }
        #expect(run.isRunning)
        #expect(try await bridge.report().isBalanced)

        disk.work()
        try await bridge.until("all is well") { $0.problems.isEmpty && $0["reason"]?.string == "ok" }
        try await simulator.publish("OFF", to: "recording")
        try await simulator.publish("ON", to: "recording")
        try await bridge.until("it records") { $0["recording"]?.bool == true }
        let well = try await bridge.report()
        try await bridge.until("points arrive again") { $0.confirmed > well.confirmed + 5 && $0.isBalanced }
        _ = try await bridge.feedbridge("record", "stop")
        run.signal()
        #expect(try await run.ended() == 0)
        #expect(try await bridge.sessions().contains { ($0.samples["host.uptime"] ?? 0) > 0 })
        // Said once, not with every try.
        #expect(run.talk.split(separator: "\n").count { $0.contains("error:") } < 12, "\(run.talk)")
        // No damage was done, and none was suspected.
        #expect(try await bridge.feedbridge("check").contains("set aside") == false)
    }
}
