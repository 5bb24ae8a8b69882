import Diagnostics
import HTTPServer
import TestKit
import Testing

@Suite("Requests and answers", .timeLimit(.minutes(5)))
struct RequestTests {
    @Test("a GET gets the literal bytes of an answer, and the connection stays open")
    func answersLiteralBytes() async throws {
        let server = try serve([HTTPRoute(.get, "/hello") { _ in .text("hi\n") }])
        let client = try await RawClient(port: server.port)

        for _ in 1...2 {
            await client.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let (head, body) = try await client.readResponse()

            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(head.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"))
            #expect(head.contains("\r\nContent-Length: 3\r\n"))
            #expect(head.contains("\r\nDate: "))
            #expect(body == "hi\n")
        }
    }

    @Test("two requests in one packet get two answers in order")
    func answersPipelinedRequests() async throws {
        let server = try serve([HTTPRoute(.get, "/:word") { .text($0.parameters["word"] ?? "") }])
        let client = try await RawClient(port: server.port)

        await client.send("GET /one HTTP/1.1\r\nHost: localhost\r\n\r\nGET /two HTTP/1.1\r\nHost: localhost\r\n\r\n")

        #expect(try await client.readResponse().body == "one")
        #expect(try await client.readResponse().body == "two")
    }

    @Test("path, query, headers, body and parameters arrive decoded")
    func decodesRequests() async throws {
        let seen = Guarded<HTTPRequest?>(nil)
        let server = try serve([
            HTTPRoute(.post, "/api/v2/:user/feeds/:key/data") { request in
                seen.withLock { $0 = request }
                return .empty(204)
            }
        ])
        let client = try await RawClient(port: server.port)

        await client.send(
            "POST /api/v2/ada/feeds/a%2Fb%20%C3%A9/data?x=1&y=two+words%21&y=3&flag HTTP/1.1\r\n"
                + "Host: localhost\r\nx-aio-key: k\r\nContent-Length: 5\r\n\r\nhello"
        )

        #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 204 "))
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == .post)
        #expect(request.path == "/api/v2/ada/feeds/a/b é/data")
        #expect(request.parameters == ["user": "ada", "key": "a/b é"])
        #expect(request.query.map { "\($0.0)=\($0.1)" } == ["x=1", "y=two words!", "y=3", "flag="])
        #expect(request.first(named: "y") == "two words!")
        #expect(request.headers["X-AIO-Key"] == "k")
        #expect(request.body == Array("hello".utf8))
        #expect(request.remoteAddress == "127.0.0.1")
    }

    @Test("a chunked body arrives in one piece")
    func takesChunkedBodies() async throws {
        let server = try serve([HTTPRoute(.put, "/") { .text($0.text) }])
        let client = try await RawClient(port: server.port)

        await client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        await client.send("4\r\nab\r\n\r\n3\r\ncde\r\n0\r\n\r\n")

        #expect(try await client.readResponse().body == "ab\r\ncde")
    }

    @Test("a form body is read as names and values")
    func readsForms() async throws {
        let server = try serve([
            HTTPRoute(.post, "/") { request in
                .text((request.form ?? [("none", "")]).map { "\($0.0)=\($0.1)" }.joined(separator: ";"))
            }
        ])
        let client = try await RawClient(port: server.port)
        let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n"

        await client.send(head + "Content-Type: application/x-www-form-urlencoded\r\n\r\nvalue=a%26b&name=x+y")
        #expect(try await client.readResponse().body == "value=a&b;name=x y")

        await client.send(head + "Content-Type: application/json\r\n\r\nvalue=a%26b&name=x+y")
        #expect(try await client.readResponse().body == "none=")
    }

    @Test(
        "a path that climbs, a broken escape, a NUL and bytes that are no text get 400",
        arguments: ["/a/../b", "/a/%2e%2e/b", "/%zz", "/%4", "/%00", "/%ff", "/?q=%"]
    )
    func refusesBadTargets(target: String) async throws {
        let server = try serve([HTTPRoute(.get, "/*rest") { _ in .text("reached") }])
        let client = try await RawClient(port: server.port)

        await client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")

        #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("HEAD gives the headers of GET and no body")
    func answersHead() async throws {
        let server = try serve([HTTPRoute(.get, "/") { _ in .text("12345") }])
        let client = try await RawClient(port: server.port)

        await client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

        let all = try await client.readToEnd()
        #expect(all.hasPrefix("HTTP/1.1 200 "))
        #expect(all.contains("Content-Length: 5\r\n"))
        #expect(all.hasSuffix("\r\n\r\n"))
    }

    @Test("an unknown path gets 404 or the fallback, a wrong method 405 with Allow")
    func refusesUnknown() async throws {
        let routes = [HTTPRoute(.get, "/a") { _ in .empty(200) }, HTTPRoute(.post, "/a") { _ in .empty(200) }]
        let server = try serve(routes)
        let other = try serve(routes, fallback: { _ in .json(#"{"error":"not found"}"#, status: 404) })
        let client = try await RawClient(port: server.port)
        let otherClient = try await RawClient(port: other.port)

        await client.send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 404 "))

        await client.send("DELETE /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody")
        let head = try await client.readResponse().head
        #expect(head.hasPrefix("HTTP/1.1 405 "))
        #expect(head.contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n"))

        await otherClient.send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await otherClient.readResponse().body == #"{"error":"not found"}"#)
    }

    @Test("OPTIONS names what is allowed, or asks the hook")
    func answersOptions() async throws {
        let routes = [HTTPRoute(.get, "/a") { _ in .empty(200) }]
        let plain = try serve(routes)
        let hooked = try serve(
            routes,
            options: { _ in HTTPResponse(status: 204, headers: ["Access-Control-Allow-Origin": "*"]) }
        )
        let request = "OPTIONS /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

        let plainClient = try await RawClient(port: plain.port)
        await plainClient.send(request)
        let plainHead = try await plainClient.readResponse().head
        #expect(plainHead.hasPrefix("HTTP/1.1 204 "))
        #expect(plainHead.contains("Allow: GET, HEAD, OPTIONS\r\n"))

        let hookedClient = try await RawClient(port: hooked.port)
        await hookedClient.send(request)
        let hookedHead = try await hookedClient.readResponse().head
        #expect(hookedHead.contains("Access-Control-Allow-Origin: *\r\n"))
        #expect(hookedHead.contains("Allow: GET, HEAD, OPTIONS\r\n"))
    }

    @Test("a handler that throws gives 500 without its words, and one line in the log without the query")
    func hidesFailures() async throws {
        struct Trouble: Error { let detail = "secret detail" }
        let lines = LogLines()
        let server = try serve([HTTPRoute(.get, "/broken") { _ in throw Trouble() }], log: lines.log)
        let client = try await RawClient(port: server.port)

        await client.send("GET /broken?token=hush HTTP/1.1\r\nHost: localhost\r\n\r\n")

        let (head, body) = try await client.readResponse()
        #expect(head.hasPrefix("HTTP/1.1 500 "))
        #expect(!body.contains("secret"))
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("GET /broken failed: ") == true)
        #expect(lines.all.first?.contains("hush") == false)
    }

    @Test("a file is sent as it is; a missing one, and a folder, are 404")
    func sendsFiles() async throws {
        let folder = TemporaryDirectory()
        let text = String(repeating: "0123456789", count: 50_000)
        let path = try folder.write(text, to: "big.txt")
        let server = try serve([
            HTTPRoute(.get, "/big") { _ in .file(path, type: "text/plain") },
            HTTPRoute(.get, "/none") { _ in .file(folder.file("none"), type: "text/plain") },
            HTTPRoute(.get, "/folder") { _ in .file(folder.path, type: "text/plain") },
        ])
        let client = try await RawClient(port: server.port)

        await client.send("GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let (head, body) = try await client.readResponse()
        #expect(head.contains("\r\nContent-Type: text/plain\r\n"))
        #expect(body == text)

        for name in ["none", "folder"] {
            await client.send("GET /\(name) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("a header with a line break in it never reaches the client")
    func refusesHeaderInjection() async throws {
        let server = try serve([
            HTTPRoute(.get, "/") { _ in HTTPResponse(headers: ["X-Echo": "a\r\nX-Evil: 1", "X-Good": "1"]) }
        ])
        let client = try await RawClient(port: server.port)

        await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

        let head = try await client.readResponse().head
        #expect(!head.contains("X-Evil"))
        #expect(head.contains("X-Good: 1"))
    }
}
