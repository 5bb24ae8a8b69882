import Diagnostics
import Foundation
import Sockets
import TestKit
import Testing

/// What one end has seen, with a way to wait for it.
private final class Seen: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var end: SocketEnd?
        var isOpen = false
        var waiters:
            [(ready: @Sendable ([UInt8], SocketEnd?) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var end: SocketEnd? { state.withLock { $0.end } }

    func handler(received: @escaping @Sendable ([UInt8]) -> Void = { _ in }) -> SocketConnection.Handler {
        SocketConnection.Handler(
            opened: { self.change { $0.isOpen = true } },
            received: { bytes in
                let bytes = Array(bytes)
                self.change { $0.bytes += bytes }
                received(bytes)
            },
            ended: { end in self.change { $0.end = end } }
        )
    }

    func until(_ ready: @escaping @Sendable ([UInt8], SocketEnd?) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if ready(state.bytes, state.end) { return true }
                state.waiters.append((ready, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            let due = state.waiters.filter { $0.ready(state.bytes, state.end) }
            state.waiters.removeAll { $0.ready(state.bytes, state.end) }
            return due.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}

/// Connections that a listener accepted, kept alive.
private final class Accepted: Sendable {
    private let list = Guarded<[SocketConnection]>([])
    func keep(_ connection: SocketConnection) { list.withLock { $0.append(connection) } }
    var first: SocketConnection? { list.withLock { $0.first } }
}

private let loopback = SocketAddress.tcp(host: "127.0.0.1", port: 0)

@Suite("Sockets on a loop", .timeLimit(.minutes(5)))
struct SocketsTests {
    @Test("what one end sends arrives whole and in order, over TCP and over a Unix socket", arguments: [true, false])
    func echo(isUnix: Bool) async throws {
        let folder = TemporaryDirectory()
        let loop = try EventLoop(name: "test")
        let accepted = Accepted()
        let address = isUnix ? SocketAddress.unix(path: folder.file("s")) : loopback
        let listener = try SocketListener(at: address, on: loop, writeLimit: 8 << 20) { connection in
            accepted.keep(connection)
            connection.start(Seen().handler { connection.send($0) })
        }
        let message = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

        let seen = Seen()
        let client = try SocketConnection.connect(
            to: listener.address,
            on: loop,
            writeLimit: 8 << 20,
            handler: seen.handler()
        )
        loop.execute { client.send(message) }
        await seen.until { bytes, _ in bytes.count >= message.count }

        #expect(seen.bytes == message)
        if isUnix {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.file("s"))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        } else {
            #expect(listener.port > 0)
        }
        withExtendedLifetime(listener) {}
    }

    @Test("what was sent before end() still arrives, then the peer sees the end")
    func graceful() async throws {
        let loop = try EventLoop(name: "test")
        let accepted = Accepted()
        let listener = try SocketListener(at: loopback, on: loop) { connection in
            accepted.keep(connection)
            connection.start(Seen().handler())
            connection.send("goodbye".utf8)
            connection.end()
        }

        let seen = Seen()
        let client = try SocketConnection.connect(to: listener.address, on: loop, handler: seen.handler())
        await seen.until { _, end in end != nil }

        #expect(seen.bytes == Array("goodbye".utf8))
        #expect(seen.end == .closedByPeer)
        withExtendedLifetime((listener, client)) {}
    }

    @Test("a peer that does not read is cut when the write buffer is full, and nothing grows beyond it")
    func tooSlow() async throws {
        let loop = try EventLoop(name: "test")
        let accepted = Accepted()
        let server = Seen()
        let listener = try SocketListener(at: loopback, on: loop, writeLimit: 100_000) { connection in
            accepted.keep(connection)
            connection.start(
                server.handler { _ in
                    // More than the kernel's own buffers and ours together can take.
                    for _ in 0..<1000 { connection.send([UInt8](repeating: 7, count: 50_000)) }
                }
            )
        }

        let client = Seen()
        let connection = try SocketConnection.connect(to: listener.address, on: loop, handler: client.handler())
        loop.execute {
            connection.send("go".utf8)
        }
        await server.until { _, end in end != nil }

        #expect(server.end == .peerTooSlow)
    }

    @Test("bytes wait in the kernel while reading is off")
    func paused() async throws {
        let loop = try EventLoop(name: "test")
        let accepted = Accepted()
        let server = Seen()
        let listener = try SocketListener(at: loopback, on: loop) { connection in
            accepted.keep(connection)
            connection.start(server.handler())
            connection.setReading(false)
            connection.send("ready".utf8)
        }

        let client = Seen()
        let connection = try SocketConnection.connect(to: listener.address, on: loop, handler: client.handler())
        await client.until { bytes, _ in bytes.count == 5 }
        loop.execute { connection.send("held".utf8) }
        let (rounds, finished) = AsyncStream.makeStream(of: Void.self)
        loop.execute { loop.execute { finished.finish() } }
        for await _ in rounds {}
        let before = server.bytes
        loop.execute { accepted.first?.setReading(true) }
        await server.until { bytes, _ in bytes.count == 4 }

        #expect(before.isEmpty)
        #expect(server.bytes == Array("held".utf8))
        withExtendedLifetime(listener) {}
    }

    @Test("a refused connection, a taken port and a bad address say so")
    func errors() async throws {
        let loop = try EventLoop(name: "test")
        let listener = try SocketListener(at: loopback, on: loop) { _ in }
        let taken = #expect(throws: SocketError.self) {
            _ = try SocketListener(at: .tcp(host: "127.0.0.1", port: listener.port), on: loop) { _ in }
        }
        #expect(taken?.isAddressInUse == true)
        #expect(taken?.description == "Cannot listen on 127.0.0.1:\(listener.port): Address already in use.")
        #expect(throws: SocketError.self) {
            _ = try SocketListener(at: .tcp(host: "example.org", port: 0), on: loop) { _ in }
        }
        #expect(throws: SocketError.self) {
            _ = try SocketListener(at: .unix(path: String(repeating: "x", count: 120)), on: loop) { _ in }
        }

        loop.execute { listener.close() }
        let seen = Seen()
        let (closed, finished) = AsyncStream.makeStream(of: Void.self)
        loop.execute { finished.finish() }
        for await _ in closed {}
        do {
            let client = try SocketConnection.connect(to: listener.address, on: loop, handler: seen.handler())
            await seen.until { _, end in end != nil }
            withExtendedLifetime(client) {}
            #expect(seen.end == .failed(111))
        } catch {
            #expect(error.code == 111)
        }
    }

    @Test("a Unix socket's file that nobody listens on is replaced, a living one is not")
    func staleFile() async throws {
        let folder = TemporaryDirectory()
        let address = SocketAddress.unix(path: folder.file("s"))
        let loop = try EventLoop(name: "test")
        do {
            // Ends without removing its file, as a killed process does.
            let first = try SocketListener(at: address, on: loop) { _ in }
            #expect(throws: SocketError.self) { _ = try SocketListener(at: address, on: loop) { _ in } }
            let (closed, finished) = AsyncStream.makeStream(of: Void.self)
            let path = folder.file("s")
            loop.execute {
                rename(path, path + "2")
                first.close()
                rename(path + "2", path)
                finished.finish()
            }
            for await _ in closed {}
        }
        #expect(FileManager.default.fileExists(atPath: folder.file("s")))

        let second = try SocketListener(at: address, on: loop) { _ in }

        withExtendedLifetime(second) {}
    }

    @Test("an actor on the loop runs on the loop's thread, and a socket's report enters it without a hop")
    func executor() async throws {
        actor Owner {
            let loop: EventLoop
            private(set) var received = 0
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
            init(_ loop: EventLoop) { self.loop = loop }
            func add(_ count: Int) { received += count }
            func isOnLoop() -> Bool { loop.isCurrent }
        }
        let loop = try EventLoop(name: "test")
        let owner = Owner(loop)
        let accepted = Accepted()
        let seen = Seen()
        let listener = try SocketListener(at: loopback, on: loop) { connection in
            accepted.keep(connection)
            connection.start(seen.handler { bytes in owner.assumeIsolated { $0.add(bytes.count) } })
        }
        let client = try SocketConnection.connect(to: listener.address, on: loop, handler: Seen().handler())
        loop.execute { client.send("12345".utf8) }
        await seen.until { bytes, _ in bytes.count == 5 }

        #expect(await owner.isOnLoop())
        #expect(await owner.received == 5)
        #expect(!loop.isCurrent)
        withExtendedLifetime(listener) {}
    }
}
