import Diagnostics
import Dispatch
import TestKit
import Testing

@testable import MQTT

@Suite("Connecting", .timeLimit(.minutes(5)))
struct ConnectTests {
    @Test("logs in to a real broker, and leaves with a DISCONNECT", arguments: [MQTTConfiguration.Version.v311, .v5])
    func logsInAndLeaves(version: MQTTConfiguration.Version) async throws {
        let broker = try await Broker.start()

        let connection = try await MQTTConnection.connect(
            .local(broker.port) {
                $0.version = version
                $0.clientID = "visitor"
            }
        )
        #expect(connection.endReason == nil)
        await connection.disconnect()

        #expect(connection.endReason == .disconnected)
        try await until("the broker has seen it leave") { broker.log.contains("Client visitor disconnected.") }
        #expect(!broker.log.contains("visitor closed its connection"))
    }

    @Test("sends a CONNECT as MQTT 3.1.1 writes it")
    func sendsConnect() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .drain]])

        let connection = try await MQTTConnection.connect(
            .local(peer.port) {
                $0.clientID = "id"
                $0.username = "ada"
                $0.password = Secret("key")
                $0.keepAlive = .seconds(258)
                $0.will = MQTTWill(topic: "w", payload: Array("gone".utf8), qos: .atLeastOnce, retain: true)
            }
        )
        await connection.disconnect()
        await peer.finished()

        let text = { (text: String) in [0, UInt8(text.utf8.count)] + Array(text.utf8) }
        var body: [UInt8] = text("MQTT") + [4, 0b1110_1110, 1, 2]
        for field in ["id", "w", "gone", "ada", "key"] { body += text(field) }
        #expect(peer.packets() == [[0x10, UInt8(body.count)] + body])
        #expect(peer.received().suffix(2) == Bytes.disconnect)
    }

    @Test(
        "gives each refusal its reason, knows whether to try again, and tries no second time by itself",
        arguments: [
            (1, MQTTRefusal.Meaning.protocolVersion, false), (2, .clientID, false), (3, .serverUnavailable, true),
            (4, .credentials, false), (5, .notAuthorized, false), (6, .throttled, true), (7, .banned, true),
        ]
    )
    func namesRefusals(code: UInt8, meaning: MQTTRefusal.Meaning, isRetriable: Bool) async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connack(code)), .drain]])

        let error = try await failure { _ = try await MQTTConnection.connect(.local(peer.port)) }

        #expect(error?.reason == .refused(MQTTRefusal(code: code)))
        #expect(MQTTRefusal(code: code).meaning == meaning)
        #expect(error?.isRetriable == isRetriable)
        #expect(error?.description.contains("unknown") == false)
        await peer.finished()
        #expect(peer.connections == 1)
    }

    @Test("tells a wrong password from a real broker", arguments: [MQTTConfiguration.Version.v311, .v5])
    func wrongPassword(version: MQTTConfiguration.Version) async throws {
        let broker = try await Broker.start { $0.users = ["ada": "right"] }
        func configuration(_ password: String) -> MQTTConfiguration {
            .local(broker.port) {
                $0.version = version
                $0.username = "ada"
                $0.password = Secret(password)
            }
        }

        let error = try await failure { _ = try await MQTTConnection.connect(configuration("wrong")) }

        #expect(error?.reason == .refused(MQTTRefusal(code: version == .v5 ? 0x87 : 5)))
        #expect(error.map { !"\($0)\(String(reflecting: $0))".contains("wrong") } == true)
        await (try MQTTConnection.connect(configuration("right"))).disconnect()
    }

    @Test("starts before the broker does, and connects when it is there")
    func bootsBeforeTheNetwork() async throws {
        let broker = try await Broker.start()
        try await broker.stop()

        let error = try await failure { _ = try await MQTTConnection.connect(.local(broker.port)) }
        #expect(error?.reason == .connectionRefused)
        #expect(error?.isRetriable == true)

        try await broker.restart()
        let connection = try await MQTTConnection.connect(.local(broker.port))
        try await connection.publish("x", to: "a")
        await connection.disconnect()
    }

    @Test("says when a name has no address")
    func namesWithoutAddress() async throws {
        let configuration = MQTTConfiguration(host: "no-such-host.invalid", port: 1883)

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }

        guard case .nameNotFound = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isRetriable == true)
    }

    @Test("gives up on a peer that never answers, when the boot-time clock says so and not the wall clock")
    func timesOut() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .hang]])
        let time = ManualTime()

        async let outcome = failure { _ = try await MQTTConnection.connect(.local(peer.port), time: time) }
        await peer.untilPackets(1)
        time.setWall(time.wall() + .seconds(86_400))
        time.advance(by: .seconds(29))
        time.advance(by: .seconds(1))

        #expect(try await outcome?.reason == .timedOut)
    }

    @Test("can be cancelled while it waits for the broker")
    func cancelsWhileWaiting() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .drain]])

        let attempt = Task { try await MQTTConnection.connect(.local(peer.port)) }
        await peer.untilPackets(1)
        attempt.cancel()

        let error = try await failure { _ = try await attempt.value }
        #expect(error?.reason == .cancelled)
        await peer.finished()
    }

    @Test("never waits for a resolver: a cancelled attempt gives its thread up")
    func neverWaitsForAResolver() async throws {
        let peer = ScriptedPeer([])
        let time = ManualTime()
        let (entered, resolver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        defer { resolver.signal() }

        let attempt = Task {
            try await MQTTConnection.connect(.local(peer.port), time: time) {
                entered.signal()
                resolver.wait()
            }
        }
        await BlockingExecutor(label: "wait").run { entered.wait() }
        attempt.cancel()
        await time.untilSleeping(2)
        time.advance(by: .seconds(2))

        let error = try await failure { _ = try await attempt.value }
        #expect(error?.reason == .cancelled)
        #expect(peer.connections == 0)
    }

    @Test("never waits for a resolver: an attempt that is stuck times out")
    func resolverTimesOut() async throws {
        let time = ManualTime()
        let resolver = DispatchSemaphore(value: 0)
        defer { resolver.signal() }

        async let outcome = failure {
            _ = try await MQTTConnection.connect(.local(1), time: time) { resolver.wait() }
        }
        await time.untilSleeping()
        time.advance(by: .seconds(32))

        #expect(try await outcome?.reason == .timedOut)
    }

    @Test("connects many clients at once")
    func manyAtOnce() async throws {
        let broker = try await Broker.start()

        try await withThrowingTaskGroup { group in
            for number in 0..<30 {
                group.addTask {
                    let connection = try await MQTTConnection.connect(.local(broker.port))
                    try await connection.publish("x", to: "many/\(number)")
                    await connection.disconnect()
                    return connection.endReason
                }
            }
            for try await reason in group { #expect(reason == .disconnected) }
        }
    }

    @Test("says goodbye when nobody holds the connection any more")
    func leavesWhenDropped() async throws {
        let peer = ScriptedPeer([[.awaitPacket, .send(Bytes.connackAccepted), .awaitPacket, .drain]])

        _ = try await MQTTConnection.connect(.local(peer.port))
        await peer.finished()

        #expect(peer.packets().last == Bytes.disconnect)
    }

    @Test(
        "refuses a configuration that cannot work before anything is opened",
        arguments: [
            { $0.host = "" }, { $0.port = 0 }, { $0.port = 70_000 }, { $0.cleanSession = false },
            { $0.password = Secret("x") }, { $0.keepAlive = .seconds(1) }, { $0.inFlightWindow = 0 },
            { $0.clientID = "a\u{0}b" }, { $0.tls = TLSConfiguration(caFile: "/no/such/file") },
            { $0.will = MQTTWill(topic: "a/#", payload: []) },
        ] as [@Sendable (inout MQTTConfiguration) -> Void]
    )
    func refusesNonsense(change: @Sendable (inout MQTTConfiguration) -> Void) async throws {
        let peer = ScriptedPeer([])

        let error = try await failure { _ = try await MQTTConnection.connect(.local(peer.port, change)) }

        #expect(error?.isRetriable == false)
        #expect(peer.connections == 0)
    }
}
