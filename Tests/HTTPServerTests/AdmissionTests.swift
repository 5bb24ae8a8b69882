import Diagnostics
import HTTPServer
import Testing

@Suite("Requests that are refused before their body", .timeLimit(.minutes(1))) struct AdmissionTests {
    @Test("the handler sees none of them, and the connection goes on")
    func refused() async throws {
        let seen = Guarded<[String]>([])
        let server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0),
            routes: [
                HTTPRoute(.post, "/in/:name") { request in
                    request.headers["Key"] == "right" ? nil : .text("no\n", status: 401)
                } handler: { request in
                    seen.withLock { $0.append(request.text) }
                    return .text(request.parameters["name"] ?? "")
                }
            ],
            log: .silent
        )
        let client = try await RawClient(port: server.port)
        func post(_ key: String, _ body: String) async throws -> String {
            await client.send(
                "POST /in/a HTTP/1.1\r\nHost: localhost\r\nKey: \(key)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            return try await client.readResponse().head
        }

        #expect(try await post("wrong", "secret").contains("401"))
        #expect(try await post("right", "hello").contains("200"))
        #expect(try await post("wrong", String(repeating: "x", count: 100_000)).contains("401"))
        #expect(seen.withLock { $0 } == ["hello"])
    }
}
