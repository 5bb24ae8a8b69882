import Diagnostics
import Foundation
import HTTPServer
import TestKit
import Testing

@Suite("Clients that go, servers that stop", .timeLimit(.minutes(5)))
struct LifetimeTests {
    @Test("a client that disconnects cancels its handler", arguments: [true, false])
    func cancelsHandler(politely: Bool) async throws {
        let (started, cancelled) = (Signal(), Signal())
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                started.fire()
                do {
                    try await SystemTime().sleep(for: .seconds(3600))
                } catch {
                    cancelled.fire()
                }
                return .empty(200)
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await started.wait()

        if politely { await client.close() } else { await client.reset() }

        await cancelled.wait()
        let next = try await RawClient(port: server.port)
        await next.send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await next.readResponse().head.hasPrefix("HTTP/1.1 404 "))
        server.stop()
    }

    @Test("stop answers waiting clients with 503, cancels their handlers and frees the port")
    func stops() async throws {
        let started = Signal()
        let cancelled = Signal()
        let route = HTTPRoute(.get, "/") { _ in
            started.fire()
            do {
                try await SystemTime().sleep(for: .seconds(3600))
            } catch {
                cancelled.fire()
            }
            return .empty(200)
        }
        // Not 0: nobody else gets this port while it is free.
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: LocalPorts.free()), routes: [route], log: .silent)
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await started.wait()

        server.stop()

        let answer = try await client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("Connection: close"))
        await cancelled.wait()
        await #expect(throws: RawClient.Failure.self) { try await RawClient(port: server.port) }
        let again = try HTTPServer(.tcp(host: "127.0.0.1", port: server.port), routes: [], log: .silent)
        #expect(again.port == server.port)
    }

    @Test("a request that becomes whole while the server stops is not begun")
    func stopsAmidRequest() async throws {
        let (started, cancelled, begun) = (Signal(), Signal(), Counter())
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                started.fire()
                do {
                    try await SystemTime().sleep(for: .seconds(3600))
                } catch {
                    cancelled.fire()
                }
                return .empty(200)
            },
            HTTPRoute(.get, "/late") { _ in
                begun.add()
                return .empty(200)
            },
        ])
        let late = try await RawClient(port: server.port)
        await late.send("GET /late HTTP/1.1\r\nHost: localhost\r\n")
        let first = try await RawClient(port: server.port)
        await first.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await started.wait()

        let stopped = Task.detached { server.stop() }
        await cancelled.wait()
        await late.send("\r\n")

        // On a slow machine it may be closed before it is heard.
        let answer = (try? await late.readToEnd()) ?? ""
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 503 "))
        await stopped.value
        #expect(begun.value == 0)
    }

    @Test("stopping amid requests never ends the process")
    func stopsAgainAndAgain() async throws {
        for _ in 0..<100 {
            let server = try serve([HTTPRoute(.get, "/") { _ in .empty(200) }])
            let clients = [try await RawClient(port: server.port), try await RawClient(port: server.port)]
            async let sending: Void = {
                for client in clients { await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }
            }()
            await Task.detached { server.stop() }.value
            await sending
        }
    }

    @Test("stop does not wait for a handler that does not listen to cancellation, nor for idle or half-sent requests")
    func stopsWithoutHandlers() async throws {
        let (started, goOn) = (Signal(), Signal())
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                started.fire()
                await Task { await goOn.wait() }.value
                return .empty(200)
            }
        ])
        let busy = try await RawClient(port: server.port)
        await busy.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let idle = try await RawClient(port: server.port)
        let half = try await RawClient(port: server.port)
        await half.send("GET / HT")
        await started.wait()

        server.stop()
        server.stop()

        #expect(try await busy.readToEnd().hasPrefix("HTTP/1.1 503 "))
        #expect(try await idle.readToEnd() == "")
        #expect(try await half.readToEnd() == "")
        goOn.fire()
    }

    @Test("a server that nobody holds any more is gone")
    func endsWithItsOwner() async throws {
        let port = LocalPorts.free()
        var server: HTTPServer? = try HTTPServer(.tcp(host: "127.0.0.1", port: port), routes: [], log: .silent)
        #expect(server?.port == port)

        server = nil

        await #expect(throws: RawClient.Failure.self) { try await RawClient(port: port) }
    }

    @Test("a port in use, and an address that this machine does not have, are clear errors")
    func saysWhyItCannotListen() throws {
        let server = try serve([])

        #expect(throws: HTTPServerError.addressInUse("127.0.0.1:\(server.port)")) {
            try HTTPServer(.tcp(host: "127.0.0.1", port: server.port), routes: [], log: .silent)
        }
        #expect(throws: HTTPServerError.badAddress("pi.local:80")) {
            try HTTPServer(.tcp(host: "pi.local", port: 80), routes: [], log: .silent)
        }
        #expect {
            try HTTPServer(.tcp(host: "192.0.2.1", port: 0), routes: [], log: .silent)
        } throws: { error in
            "\(error)" == "Cannot listen on 192.0.2.1:0: this machine does not have that address."
        }
    }

    @Test("hundreds of clients that come and go leave no file descriptor behind")
    func leaksNothing() async {
        // In a process of its own, where nobody else opens files.
        await #expect(processExitsWith: .success) {
            func visit(_ port: Int) async throws {
                let client = try await RawClient(port: port)
                await client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                let answer = try await client.readToEnd()
                precondition(answer.hasSuffix("\r\n\r\nx"))
                await client.close()
            }
            func socketsAfter(_ visits: Int) async throws -> Int {
                let server = try serve([HTTPRoute(.get, "/") { _ in .text("x") }])
                for _ in 0..<visits { try await visit(server.port) }
                server.stop()
                return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                    return link?.hasPrefix("socket:") == true
                }
            }
            let before = try await socketsAfter(1)
            let after = try await socketsAfter(300)
            precondition(before == after, "\(before) sockets have become \(after)")
        }
    }
}
