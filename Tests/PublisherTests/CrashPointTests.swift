import Foundation
import Outbox
import Simulator
import TestKit
import Testing

/// Breaks a conversation at each of its packets. `FEEDBRIDGE_CRASH_POINTS` is `all` or the number of a packet; else it is
/// a spread of them.
@Suite("A connection that breaks after any packet", .timeLimit(.minutes(30)))
struct CrashPointTests {
    /// CONNECT, 8 SUBSCRIBE, and for each of 50 points a PUBLISH and the PUBACK of its echo; and what answers these.
    private static let packets = 1 + 8 + 2 * points
    private static let points = 50
    private static let blows: [FaultProxy.Blow] = [.reset, .blackHole, .halfClose]

    private struct CrashPoint {
        var packet: Int
        var direction: FaultProxy.Direction
        var blow: FaultProxy.Blow

        static var chosen: [CrashPoint] {
            let all = (1...CrashPointTests.packets).flatMap { packet in
                [FaultProxy.Direction.toServer, .toClient].map { (packet, $0) }
            }
            let wish = ProcessInfo.processInfo.environment["FEEDBRIDGE_CRASH_POINTS"] ?? ""
            let chosen = all.filter { Int(wish) == $0.0 || wish == "all" }
            guard chosen.isEmpty else {
                return chosen.flatMap { point in
                    CrashPointTests.blows.map { CrashPoint(packet: point.0, direction: point.1, blow: $0) }
                }
            }
            return all.enumerated().filter { $0.offset % 7 == 0 || $0.offset < 4 }.map { place, point in
                CrashPoint(packet: point.0, direction: point.1, blow: CrashPointTests.blows[place % 3])
            }
        }
    }

    @Test("in fair weather the conversation has the packets that are broken after below, and no other")
    func conversation() async throws {
        let world = try await SimulatedDelivery { $0.waitForMQTT() }
        try await world.delivery.begin()
        world.delivery.append(Self.points)

        try await world.close("fair weather")

        #expect(world.mqtt.counts.packetsToServer == Self.packets)
        #expect(world.mqtt.counts.packetsToClient == Self.packets)
        #expect(world.counters?.points == Self.points && world.counters?.logins == 1)
        await world.end()
    }

    @Test("every point stands on the service, once")
    func everyPacket() async throws {
        let crashPoints = CrashPoint.chosen
        await withTaskGroup(of: Void.self) { group in
            var waiting = crashPoints[...]
            for _ in 0..<6 {
                guard let next = waiting.popFirst() else { break }
                group.addTask { await Self.run(next) }
            }
            while await group.next() != nil {
                if let next = waiting.popFirst() { group.addTask { await Self.run(next) } }
            }
        }
    }

    private static func run(_ point: CrashPoint) async {
        let what = "\(point.blow) after packet \(point.packet) \(point.direction)"
        do {
            // The service shows in time what it has, and nobody else writes: so once, not once or counted.
            #expect(try await doubles(point, what) == 0, "\(what)")
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    /// Breaks a conversation of 50 points; how many stand on the service twice in the end.
    private static func doubles(_ point: CrashPoint, _ what: String) async throws -> Int {
        let world = try await SimulatedDelivery { $0.fallBackSoon() }
        world.mqtt.strike(point.blow, afterPackets: point.packet, point.direction)
        try await world.delivery.begin()
        world.delivery.append(points)

        // On a busy machine a point may go by REST, and there are fewer packets: then more points make them.
        try await until("the blow falls: \(what)") { [mqtt = world.mqtt, outbox = world.delivery.outbox] in
            mqtt.counts.blows > 0 || outbox.statistics.total.confirmed == Self.points
        }
        while world.mqtt.counts.blows == 0 {
            let confirmed = world.delivery.counts.accepted
            world.delivery.append(5)
            try await until("the blow falls: \(what)") { [mqtt = world.mqtt, outbox = world.delivery.outbox] in
                mqtt.counts.blows > 0 || outbox.statistics.total.confirmed == confirmed + 5
            }
        }
        let doubles = try await world.close(what)
        await world.end()
        return doubles
    }
}
