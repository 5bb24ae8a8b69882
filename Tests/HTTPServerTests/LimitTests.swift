import Diagnostics
import HTTPServer
import TestKit
import Testing

@Suite("Limits", .timeLimit(.minutes(5)))
struct LimitTests {
    private func limited(_ change: (inout HTTPLimits) -> Void) throws -> HTTPServer {
        var limits = HTTPLimits.patient
        change(&limits)
        return try serve([HTTPRoute(.post, "/") { .text("\($0.body.count)") }], limits: limits)
    }

    @Test("a body as large as allowed passes")
    func takesLargestBody() async throws {
        let server = try limited { $0.bodyBytes = 100_000 }
        let client = try await RawClient(port: server.port)

        await client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        await client.send(String(repeating: "x", count: 100_000))

        #expect(try await client.readResponse().body == "100000")
    }

    @Test("a body announced larger than allowed gets 413 before it is sent")
    func refusesAnnouncedBody() async throws {
        let server = try limited { $0.bodyBytes = 1000 }
        let client = try await RawClient(port: server.port)

        await client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n")

        #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("a chunked body larger than allowed gets 413, and an endless one is cut")
    func refusesChunkedBody() async throws {
        let server = try limited { $0.bodyBytes = 1000 }
        let head = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "200\r\n" + String(repeating: "x", count: 512) + "\r\n"

        let client = try await RawClient(port: server.port)
        await client.send(head + chunk + chunk + "0\r\n\r\n")
        #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 413 "))

        let endless = try await RawClient(port: server.port)
        await endless.send(head)
        var sent = 0
        while await endless.send(chunk) { sent += 1 }
        #expect(sent > 0)
    }

    @Test("headers larger than allowed get 431 or 414")
    func refusesLargeHeaders() async throws {
        let server = try limited { $0.headerBytes = 4096 }
        let client = try await RawClient(port: server.port)

        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: \(String(repeating: "x", count: 8000))\r\n\r\n")

        let head = try await client.read(through: "\r\n")
        #expect(head.hasPrefix("HTTP/1.1 431 ") || head.hasPrefix("HTTP/1.1 414 "))
    }

    @Test("a connection on which nothing happens is closed")
    func closesIdleConnections() async throws {
        let server = try limited { $0.inactivity = .seconds(1) }
        let client = try await RawClient(port: server.port)

        #expect(try await client.readToEnd() == "")
    }

    @Test("a request that trickles in is cut at its time limit, though something always moves")
    func cutsTricklingRequests() async throws {
        let server = try limited { $0.requestTime = .milliseconds(300) }

        var number = 0
        while number == 0 {
            // On a busy machine the time may be over before the first line is sent: then again.
            let client = try await RawClient(port: server.port)
            await client.send("POST / HTTP/1.1\r\nHost: localhost\r\n")
            while await client.send("X-\(number): y\r\n") { number += 1 }
        }
    }

    @Test("a body that trickles in is cut at its time limit")
    func cutsTricklingBodies() async throws {
        let server = try limited { $0.requestTime = .milliseconds(300) }
        let client = try await RawClient(port: server.port)

        await client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx")

        #expect(try await client.readToEnd() == "")
    }

    @Test("a handler that takes longer than every time limit still answers")
    func leavesHandlersTheirTime() async throws {
        var limits = HTTPLimits.patient
        limits.requestTime = .milliseconds(500)
        limits.inactivity = .seconds(1)
        let reached = Counter()
        let server = try serve(
            [
                HTTPRoute(.get, "/") { _ in
                    reached.add()
                    try await SystemTime().sleep(for: .milliseconds(1500))
                    return .text("late")
                }
            ],
            limits: limits
        )

        var answer: String?
        while answer == nil {
            // On a busy machine the request itself may be late, and is cut rightly: then again.
            let before = reached.value
            let client = try await RawClient(port: server.port)
            await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = try? await client.readResponse().body
            if reached.value > before { #expect(answer == "late") }
        }
    }

    @Test("clients beyond the limit of connections are answered as soon as others go", arguments: 1...3)
    func answersAfterCrowds(size: Int) async throws {
        let server = try limited { $0.connections = size }
        var crowd: [RawClient] = []
        for _ in 0..<size { crowd.append(try await RawClient(port: server.port)) }
        for client in crowd {
            await client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            #expect(try await client.readResponse().body == "0")
        }

        for client in crowd { await client.close() }
        var answered = false
        while !answered {
            // Until the server has seen that the crowd went, it may turn a newcomer away.
            let next = try await RawClient(port: server.port)
            await next.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            answered = (try? await next.readResponse().body) == "0"
        }
    }
}
