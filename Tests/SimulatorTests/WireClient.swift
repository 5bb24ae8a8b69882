import AdafruitIO
import Diagnostics
import Sockets
import TestKit
import Testing

@testable import Simulator

/// A service behind its MQTT door on a free port, with the account `ada` whose key is `k`.
struct WireWorld {
    let time = ManualTime(wall: Timestamp(nanoseconds: 1_777_636_800_250_000_000))
    let service: SimulatedService
    let door: MQTTDoor

    init(
        _ plan: AdafruitIOPlan = .custom(pointsPerMinute: 1000),
        options: SimulatorOptions = SimulatorOptions(),
        faults: [Fault] = []
    ) throws {
        service = try SimulatedService(
            accounts: [
                SimulatedAccount(name: "ada", key: Secret("k"), plan: plan),
                SimulatedAccount(name: "bob", key: Secret("b")),
            ],
            options: options,
            faults: Faults(faults),
            time: time
        )
        door = try MQTTDoor(.tcp(host: "127.0.0.1", port: 0), service: service)
    }

    func connect() throws -> WireClient { try WireClient(port: door.port) }

    /// A client that is logged in: `id` has two characters.
    func client(_ id: String) async throws -> WireClient {
        let client = try connect()
        client.send(Self.login(id))
        #expect(try await client.read(4) == [0x20, 0x02, 0x00, 0x00])
        return client
    }

    /// CONNECT of user `ada` with the key `k`, clean, written out by hand.
    static func login(_ id: String, key: String = "k", user: String = "ada", keepAlive: UInt8 = 0) -> [UInt8] {
        var body: [UInt8] = [0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0xC2, 0x00, keepAlive]
        for field in [id, user, key] {
            body += [0x00, UInt8(field.utf8.count)]
            body += Array(field.utf8)
        }
        return [0x10, UInt8(body.count)] + body
    }

    /// SUBSCRIBE with packet id 1.
    static func subscribe(_ filter: String, qos: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = [0x82, UInt8(filter.utf8.count + 5), 0x00, 0x01, 0x00, UInt8(filter.utf8.count)]
        bytes += Array(filter.utf8)
        return bytes + [qos]
    }

    /// PUBLISH with QoS 0, or with QoS 1 and packet id 1.
    static func publish(_ topic: String, _ payload: String, qos: UInt8 = 0) -> [UInt8] {
        var body: [UInt8] = [0x00, UInt8(topic.utf8.count)]
        body += Array(topic.utf8)
        if qos > 0 { body += [0x00, 0x01] }
        body += Array(payload.utf8)
        return [0x30 | qos << 1, UInt8(body.count)] + body
    }
}

/// A TCP client that sends and expects bytes.
final class WireClient: Sendable {
    struct TooShort: Error {
        let received: [UInt8]
    }

    private let loop: EventLoop
    private let connection: SocketConnection
    private let chunks: AsyncStream<[UInt8]>
    private let buffer = Guarded<[UInt8]>([])

    init(port: Int) throws {
        loop = try EventLoop(name: "wire-client")
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        chunks = stream
        connection = try SocketConnection.connect(
            to: .tcp(host: "127.0.0.1", port: port),
            on: loop,
            handler: SocketConnection.Handler(
                received: { bytes in continuation.yield(Array(bytes)) },
                ended: { _ in continuation.finish() }
            )
        )
    }

    func send(_ bytes: [UInt8]) {
        loop.execute { self.connection.send(bytes) }
    }

    /// Closes the connection without a word, as a lost client does.
    func vanish() {
        loop.execute { self.connection.close() }
    }

    /// The next bytes; for one reader at a time.
    func read(_ count: Int) async throws -> [UInt8] {
        var iterator = chunks.makeAsyncIterator()
        while buffer.withLock({ $0.count }) < count {
            guard let chunk = await iterator.next() else { throw TooShort(received: buffer.withLock { $0 }) }
            buffer.withLock { $0 += chunk }
        }
        return buffer.withLock { buffer in
            defer { buffer.removeFirst(count) }
            return Array(buffer.prefix(count))
        }
    }

    /// What comes until the peer closes.
    func readToEnd() async throws -> [UInt8] {
        for await chunk in chunks { buffer.withLock { $0 += chunk } }
        return buffer.withLock { $0 }
    }

    /// Expects exactly these bytes next.
    func expect(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let received = try await read(bytes.count)
        #expect(received == bytes, "\(String(decoding: received, as: UTF8.self))", sourceLocation: sourceLocation)
    }

    /// Sends a PINGREQ and expects nothing before the answer: so far, nothing was sent to this client.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        send([0xC0, 0x00])
        try await expect([0xD0, 0x00], sourceLocation: sourceLocation)
    }
}
