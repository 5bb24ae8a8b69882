import Diagnostics
import HTTPServer
import TestKit
import Testing

@Suite("Server-sent events", .timeLimit(.minutes(5)))
struct EventStreamTests {
    @Test("events have the literal form that browsers read, and the stream ends with its source")
    func sendsLiteralEvents() async throws {
        let server = try serve([
            HTTPRoute(.get, "/events") { _ in
                .events(
                    ServerSentEvents { sender in
                        try? await sender.send(ServerSentEvent(data: "one"))
                        try? await sender.send(ServerSentEvent(data: "a\nb\r\nc\r", event: "feed\n", id: "7"))
                    }
                )
            }
        ])

        let text = try await run("curl", "-sS", "-i", "-N", "http://127.0.0.1:\(server.port)/events")

        #expect(text.contains("Content-Type: text/event-stream\r\n"))
        #expect(text.hasSuffix("\r\n\r\ndata: one\n\nid: 7\nevent: feed\ndata: a\ndata: b\ndata: c\ndata: \n\n"))
    }

    @Test("an event goes out when it is sent, not when the next one comes")
    func sendsAtOnce() async throws {
        let (stream, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(8))
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                .events(
                    ServerSentEvents { sender in
                        for await text in stream { try? await sender.send(ServerSentEvent(data: text)) }
                    }
                )
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.read(through: "\r\n\r\n")

        for number in 1...5 {
            continuation.yield("event \(number)")
            #expect(try await client.read(through: "\n\n").hasSuffix("data: event \(number)\n\n"))
        }
        server.stop()
    }

    @Test("a quiet stream sends comments")
    func sendsHeartbeats() async throws {
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                .events(
                    ServerSentEvents(heartbeat: .milliseconds(20)) { _ in
                        try? await SystemTime().sleep(for: .seconds(3600))
                    }
                )
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

        for _ in 1...3 { _ = try await client.read(through: "\r\n:\n\n\r\n") }
        server.stop()
    }

    @Test("the source is cancelled when its client goes", arguments: [true, false])
    func cancelsSource(politely: Bool) async throws {
        let (started, ended) = (Signal(), Signal())
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                .events(
                    ServerSentEvents { _ in
                        started.fire()
                        try? await SystemTime().sleep(for: .seconds(3600))
                        ended.fire()
                    }
                )
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await started.wait()

        if politely { await client.close() } else { await client.reset() }

        await ended.wait()
        server.stop()
    }

    @Test("a source waits for a client that does not read, and is freed when that client goes")
    func waitsForSlowClients() async throws {
        let (full, ended) = (Signal(), Signal())
        let sent = Counter()
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                .events(
                    ServerSentEvents(capacity: 4) { sender in
                        let event = ServerSentEvent(data: String(repeating: "x", count: 100_000))
                        var refused = 0
                        while refused < 50 {
                            if !sender.offer(event) { refused += 1 }
                        }
                        full.fire()
                        while (try? await sender.send(event)) != nil { sent.add() }
                        ended.fire()
                    }
                )
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await full.wait()

        await client.close()

        await ended.wait()
        #expect(sent.value < 1000)
        server.stop()
    }

    @Test("stop ends streams properly")
    func endsStreamsOnStop() async throws {
        let started = Signal()
        let server = try serve([
            HTTPRoute(.get, "/") { _ in
                .events(
                    ServerSentEvents { sender in
                        try? await sender.send(ServerSentEvent(data: "here"))
                        started.fire()
                        try? await SystemTime().sleep(for: .seconds(3600))
                    }
                )
            }
        ])
        let client = try await RawClient(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await started.wait()
        _ = try await client.read(through: "data: here\n\n\r\n")

        server.stop()

        #expect(try await client.readToEnd() == "0\r\n\r\n")
    }

    @Test("HEAD starts no source")
    func leavesSourceAloneForHead() async throws {
        let starts = Counter()
        let server = try serve([
            HTTPRoute(.get, "/") { _ in .events(ServerSentEvents { _ in starts.add() }) }
        ])
        let client = try await RawClient(port: server.port)

        await client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

        #expect(try await client.readToEnd().contains("text/event-stream"))
        #expect(starts.value == 0)
    }
}
