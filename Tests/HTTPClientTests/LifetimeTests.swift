import Diagnostics
import Foundation
import HTTPClient
import TestKit
import Testing

@Suite("Cancelling and closing", .timeLimit(.minutes(5)))
struct LifetimeTests {
    private struct Signal: Sendable {
        let stream: AsyncStream<Void>
        let continuation: AsyncStream<Void>.Continuation

        init() {
            (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
        }

        func wait() async {
            for await _ in stream { return }
        }
    }

    @Test("cancelling the task ends the transfer, and the server sees it")
    func cancels() async throws {
        let (arrived, ended) = (Signal(), Signal())
        let server = RawServer { peer in
            _ = peer.readRequest()
            arrived.continuation.yield()
            peer.waitForEnd()
            ended.continuation.yield()
        }
        let client = HTTPClient(.patient)
        let task = Task { try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/")) }
        await arrived.wait()

        task.cancel()

        let error = await #expect(throws: HTTPClientError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        #expect(error?.mayHaveArrived == true)
        await ended.wait()
    }

    @Test("a task that is cancelled already gets its error at once")
    func cancelsEarly() async throws {
        let server = RawServer { $0.waitForEnd() }
        let client = HTTPClient(.patient)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
        }

        task.cancel()

        let error = await #expect(throws: HTTPClientError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
    }

    @Test("close ends every transfer, and later ones are refused")
    func closes() async throws {
        let arrived = Signal()
        let server = RawServer { peer in
            _ = peer.readRequest()
            arrived.continuation.yield()
            peer.waitForEnd()
        }
        let client = HTTPClient(.patient)
        let request = HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/")
        let task = Task { try await client.send(request) }
        await arrived.wait()

        client.close()
        client.close()

        let error = await #expect(throws: HTTPClientError.self) { try await task.value }
        #expect(error?.reason == .closed)
        let later = await #expect(throws: HTTPClientError.self) { try await client.send(request) }
        #expect(later?.reason == .closed)
    }

    @Test("requests and cancellations in every order all end")
    func survivesDisorder() async throws {
        let server = RawServer { peer in
            while peer.readRequest() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let client = HTTPClient(.patient)

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let task = Task {
                        try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
                    }
                    if number % 3 != 0 { task.cancel() }
                    _ = await task.result
                }
            }
        }

        let response = try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
        #expect(response.status == 200)
    }

    @Test("no thread runs before the first request, one after it, none after close")
    func startsLate() async {
        await #expect(processExitsWith: .success) {
            @Sendable func threads() -> Int {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                return names.filter {
                    (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "http-client\n"
                }.count
            }
            let server = RawServer { peer in
                while peer.readRequest() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
            }
            let client = HTTPClient(.patient)
            precondition(threads() == 0)
            _ = try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
            precondition(threads() == 1)
            client.close()
            // The kernel lets whoever joins a thread go on a moment before it takes the thread off its list.
            try await until("the thread is off the list") { threads() == 0 }
        }
    }

    @Test("no child process inherits a connection")
    func keepsConnectionsToItself() async throws {
        let server = RawServer { peer in
            while peer.readRequest() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let client = HTTPClient(.patient)
        _ = try await client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))

        let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            .filter { RawServer.port(ofPeer: $0) == server.port }

        #expect(own.count == 1)
        #expect(own.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        client.close()
    }

    @Test("the environment's proxy is used only when asked for")
    func ignoresProxies() async {
        await #expect(processExitsWith: .success) {
            let server = RawServer { peer in
                while let request = peer.readRequest() {
                    let form = request.hasPrefix("GET http://") ? "proxy" : "plain"
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(form)")
                }
            }
            setenv("http_proxy", "http://127.0.0.1:\(server.port)", 1)
            let request = HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/")
            var configuration = HTTPClientConfiguration.patient
            let plain = try await HTTPClient(configuration).send(request)
            precondition(plain.text == "plain")
            configuration.proxy = .environment
            let proxied = try await HTTPClient(configuration).send(request)
            precondition(proxied.text == "proxy")
            configuration.proxy = .url("http://127.0.0.1:\(server.port)")
            let named = try await HTTPClient(configuration).send(request)
            precondition(named.text == "proxy")
        }
    }
}
