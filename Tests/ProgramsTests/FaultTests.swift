import Diagnostics
import Foundation
import TestKit
import Testing

/// The service's faults, one after the other, against the real programs.
@Suite("A bridge whose service fails", .timeLimit(.minutes(10)))
struct FaultTests {
    @Test(
        "loses nothing and doubles nothing that is not counted",
        arguments: [
            "drop-after-puback:every=7", "puback-drop:every=5", "lost-answer:every=5",
            "rest:status=503,retry_after=1,count=2", "echo-twice", "half-open:after=20", "close:after=10",
        ]
    )
    func oneFault(_ fault: String) async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60_000)
        let books = Books(simulator: simulator, bridge: bridge)
        let running = try bridge.run()
        try await bridge.untilUp()

        try await simulator.fault(fault)
        // What goes by REST alone is reached by way of a connection that ends.
        if fault.hasPrefix("rest") || fault.hasPrefix("lost-answer") { try await simulator.fault("close:after=3") }
        try await books.untilAccepted(50)
        try await simulator.fault(nil)

        try await books.close(running)
    }

    @Test("loses nothing when the simulator is killed again and again")
    func killedService() async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60_000)
        let books = Books(simulator: simulator, bridge: bridge)
        let running = try bridge.run()
        try await bridge.untilUp()

        for points in [3, 11, 7, 5] {
            try await books.untilAccepted(points)
            try await simulator.kill()
            try await books.untilAccepted(points)
            try await simulator.restart()
        }
        try await books.untilAccepted(5)

        try await books.close(running)
    }

    @Test("sends nothing and logs in nowhere while the account is held", arguments: ["ban", "throttle"])
    func held(_ fault: String) async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60_000)
        let books = Books(simulator: simulator, bridge: bridge)
        let running = try bridge.run()
        try await bridge.untilUp()
        try await books.untilAccepted(5)

        try await simulator.fault("\(fault):seconds=6")
        let reason = fault == "ban" ? "banned" : "throttled"
        try await until("the bridge knows") { try await bridge.status().reason == reason }
        let held = try await simulator.counters()
        try await until("it is over") { try await bridge.status().reason == "ok" }
        let after = try await simulator.counters()

        // Whatever the simulator refuses meanwhile it counts; one point a feed may have been under way.
        #expect(after["refused_logins"] == held["refused_logins"])
        #expect(after["rejected", default: 0] - held["rejected", default: 0] <= 2)
        #expect(after["failed_publishes", default: 0] - held["failed_publishes", default: 0] <= 2)
        try await books.close(running)
    }

    @Test("never sends more than the plan allows, also across crashes")
    func withinThePlan() async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60)
        let books = Books(simulator: simulator, bridge: bridge)

        let isOver = Guarded(false)
        let watching = Task { try await Self.watch(simulator, until: isOver) }
        var running = try bridge.run()
        for _ in 0..<3 {
            try await books.untilAccepted(12)
            running.signal(SIGKILL)
            _ = try await running.ended()
            running = try bridge.run()
        }
        try await books.untilAccepted(12)

        let points = try await books.answer().points
        #expect(points.accepted == points.confirmed + points.refused + points.evicted + points.pending)
        #expect(points.accepted >= 48 && points.confirmed > 0)
        let counters = try await simulator.counters()
        #expect(counters["rejected"] == 0 && counters["bans"] == 0 && counters["refused_logins"] == 0)
        #expect(counters["logins", default: 99] <= 6)
        isOver.withLock { $0 = true }
        let looks = try await watching.value
        for (index, first) in looks.enumerated() {
            // All between the first look and the last one that came within a minute of it happened within that minute.
            let last = looks[index...].last { first.before.duration(to: $0.after) <= .seconds(60) }
            if let last { #expect(last.points - first.points <= 60) }
        }
        #expect(looks.count > 5 && looks.last?.points ?? 0 > 0)
    }

    /// A look at the control port's counters.
    private struct Look {
        var before: ContinuousClock.Instant
        var points: Int
        var after: ContinuousClock.Instant
    }

    /// Looks at the counters each second until it is over.
    private static func watch(_ simulator: SimulatorProcess, until isOver: Guarded<Bool>) async throws -> [Look] {
        var looks: [Look] = []
        while !isOver.withLock({ $0 }) {
            let before = ContinuousClock.now
            let points = try await simulator.counters()["points", default: 0]
            looks.append(Look(before: before, points: points, after: .now))
            try await Task.sleep(for: .seconds(1))
        }
        return looks
    }

    @Test("loses nothing in a black hole: REST takes over, and the dead connection is given up")
    func blackHole() async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let proxy = FaultProxy(to: simulator.mqttPort)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60_000, mqttPort: proxy.port)
        let books = Books(simulator: simulator, bridge: bridge)
        let running = try bridge.run()
        try await bridge.untilUp()
        try await books.untilAccepted(5)

        proxy.set(.blackHole)
        try await until("REST carries the points") { try await bridge.status().link == "rest" }
        #expect(proxy.counts.swallowed > 0)
        try await books.untilAccepted(10)
        proxy.set(.fair)

        try await books.close(running)
    }

    @Test("understands answers and messages that come byte by byte, over both links")
    func oneByOne() async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let (mqtt, rest) = (FaultProxy(to: simulator.mqttPort), FaultProxy(to: simulator.httpPort))
        for proxy in [mqtt, rest] { proxy.set(.oneByOne) }
        let bridge = try BridgeProcess(
            simulator,
            account: Books.rules,
            plan: 60_000,
            mqttPort: mqtt.port,
            httpPort: rest.port
        )
        let books = Books(simulator: simulator, bridge: bridge)
        let running = try bridge.run()
        try await bridge.untilUp()

        try await books.untilAccepted(20)
        mqtt.reset()
        try await books.untilAccepted(20)

        #expect(mqtt.counts.single > 500 && rest.counts.single > 500)
        try await books.close(running)
    }

    @Test(
        "loses nothing when the connection breaks right after a packet",
        arguments: [(3, true), (4, false), (3, false)]
    )
    func cut(_ kind: UInt8, isToServer: Bool) async throws {
        let simulator = try await SimulatorProcess(data: true, plan: 60_000)
        let proxy = FaultProxy(to: simulator.mqttPort)
        let bridge = try BridgeProcess(simulator, account: Books.rules, plan: 60_000, mqttPort: proxy.port)
        let books = Books(simulator: simulator, bridge: bridge)
        proxy.strike(.reset, afterPackets: 9, ofKind: kind, isToServer ? .toServer : .toClient)
        let running = try bridge.run()

        try await until("the connection was cut") { proxy.counts.resets > 0 }
        try await books.untilAccepted(10)

        try await books.close(running)
    }
}
