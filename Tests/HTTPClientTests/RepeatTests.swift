import Diagnostics
import HTTPClient
import Testing

@Suite("Kept connections that turn out to be dead", .timeLimit(.minutes(5)))
struct RepeatTests {
    /// Answers the first request of each connection, then takes one more and closes without an answer.
    private func forgetfulServer(_ seen: Guarded<[String]>) -> RawServer {
        RawServer { peer in
            guard let first = peer.readRequest() else { return }
            seen.withLock { $0.append(first) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            guard let second = peer.readRequest() else { return }
            seen.withLock { $0.append(second) }
        }
    }

    @Test("a POST or PATCH that may have arrived is never sent again by itself", arguments: ["POST", "PATCH"])
    func doesNotRepeat(method: String) async throws {
        let seen = Guarded<[String]>([])
        let server = forgetfulServer(seen)
        let client = HTTPClient(.patient)
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try await client.send(HTTPClientRequest("GET", url))

        let error = await #expect(throws: HTTPClientError.self) {
            try await client.send(HTTPClientRequest(method, url, body: Array("point".utf8)))
        }

        #expect(error?.reason == .connectionLost)
        #expect(error?.mayHaveArrived == true)
        #expect(error?.isRetriable == true)
        #expect(seen.withLock { $0.filter { $0.hasSuffix("point") }.count } == 1)
    }

    @Test("a POST without a body uses a connection of its own")
    func doesNotRepeatWithoutBody() async throws {
        let seen = Guarded<[String]>([])
        let server = forgetfulServer(seen)
        let client = HTTPClient(.patient)
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try await client.send(HTTPClientRequest("GET", url))

        let response = try await client.send(HTTPClientRequest("POST", url))

        #expect(response.status == 200)
        #expect(seen.withLock { $0.filter { $0.hasPrefix("POST") }.count } == 1)
        #expect(server.accepted.value == 2)
    }

    @Test("what may be repeated is, on a new connection", arguments: ["GET", "PUT", "DELETE"])
    func repeats(method: String) async throws {
        let seen = Guarded<[String]>([])
        let server = forgetfulServer(seen)
        let client = HTTPClient(.patient)
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try await client.send(HTTPClientRequest("GET", url))

        let body = method == "PUT" ? Array("text".utf8) : nil
        let response = try await client.send(HTTPClientRequest(method, url, body: body))

        #expect(response.status == 200)
        #expect(seen.withLock { $0.count } == 3)
    }
}
