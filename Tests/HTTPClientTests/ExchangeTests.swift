import Diagnostics
import HTTPClient
import TestKit
import Testing

@Suite("Requests and responses", .timeLimit(.minutes(5)))
struct ExchangeTests {
    @Test("a request goes out with the literal head and body that were asked for")
    func sendsLiteralBytes() async throws {
        let seen = Guarded<[String]>([])
        let server = RawServer { peer in
            while let request = peer.readRequest() {
                seen.withLock { $0.append(request) }
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A:  one \r\nDate: Tue, 12 May 2020 20:52:50 GMT\r\n\r\nhi"
                )
            }
        }
        let client = HTTPClient(.patient)
        let base = "http://127.0.0.1:\(server.port)"

        let response = try await client.send(
            HTTPClientRequest(
                "POST",
                "\(base)/api/v2/ada/feeds/load/data?x=1",
                headers: [("Content-Type", "application/json"), ("X-Empty", "")],
                secretHeaders: [("X-AIO-Key", Secret("aio_k"))],
                body: Array(#"{"value":"1"}"#.utf8)
            )
        )
        _ = try await client.send(HTTPClientRequest("DELETE", "\(base)/x"))
        _ = try await client.send(HTTPClientRequest("PUT", "\(base)/x", body: Array("p".utf8)))
        _ = try await client.send(HTTPClientRequest("HEAD", "\(base)/x"))

        #expect(response.status == 200)
        #expect(response.text == "hi")
        #expect(response["x-a"] == "one")
        #expect(response.version == "1.1")
        #expect(response.date == Timestamp(iso8601: "2020-05-12T20:52:50Z"))
        let requests = seen.withLock { $0 }
        let host =
            "Host: 127.0.0.1:\(server.port)\r\nUser-Agent: feedbridge\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n"
        #expect(
            requests[0] == "POST /api/v2/ada/feeds/load/data?x=1 HTTP/1.1\r\n\(host)Content-Type: application/json\r\n"
                + "X-Empty:\r\nX-AIO-Key: aio_k\r\nContent-Length: 13\r\n\r\n" + #"{"value":"1"}"#
        )
        #expect(requests[1] == "DELETE /x HTTP/1.1\r\n\(host)\r\n")
        #expect(requests[2] == "PUT /x HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\np")
        #expect(requests[3] == "HEAD /x HTTP/1.1\r\n\(host)\r\n")
        #expect(server.accepted.value == 1)
    }

    @Test("a response of any status is a response, and no redirect is followed", arguments: [204, 301, 404, 429, 503])
    func takesEveryStatus(status: Int) async throws {
        let server = RawServer { peer in
            while peer.readRequest() != nil {
                peer.send("HTTP/1.1 \(status) Word\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
            }
        }

        let response = try await HTTPClient(.patient).send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))

        #expect(response.status == status)
    }

    @Test("many requests at once all get their own response, over few connections")
    func servesManyAtOnce() async throws {
        let server = RawServer { peer in
            while let request = peer.readRequest() {
                let path = request.split(separator: " ")[1]
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
            }
        }
        let client = HTTPClient(.patient)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let request = HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/\(number)")
                    let response = try await client.send(request)
                    #expect(response.text == "/\(number)")
                }
            }
            try await group.waitForAll()
        }

        #expect(server.accepted.value <= 2)
    }

    @Test("a large body goes both ways")
    func sendsLargeBodies() async throws {
        let server = RawServer { peer in
            while let request = peer.readRequest() {
                let body = request.utf8.count
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let piece = String(repeating: "x", count: 65_536)
                for _ in 0..<32 { peer.send("10000\r\n\(piece)\r\n") }
                peer.send("0\r\nX-Got: \(body)\r\n\r\n")
            }
        }
        let body = [UInt8](repeating: UInt8(ascii: "y"), count: 3_000_000)

        let response = try await HTTPClient(.patient)
            .send(HTTPClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: body))

        #expect(response.body.count == 32 * 65_536)
        #expect((response["X-Got"].flatMap { Int($0) } ?? 0) > 3_000_000)
    }

    @Test("an interim answer is passed over")
    func passesInterimAnswers() async throws {
        let server = RawServer { peer in
            while peer.readRequest() != nil {
                peer.send(
                    "HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n"
                )
            }
        }

        let response = try await HTTPClient(.patient).send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))

        #expect(response.status == 200)
        #expect(response["X-A"] == nil)
        #expect(response["X-B"] == "2")
    }

    @Test("a Unix socket is reached whatever the address says")
    func reachesUnixSockets() async throws {
        let folder = TemporaryDirectory()
        let server = try LocalServer(path: folder.file("x.sock"))
        var configuration = HTTPClientConfiguration.patient
        configuration.unixSocket = folder.file("x.sock")

        let response = try await HTTPClient(configuration).send(HTTPClientRequest("GET", "http://feedbridge/status"))

        #expect(response.text == "local")
        server.stop()
    }

    @Test("a compressed body arrives unpacked")
    func unpacks() async throws {
        // `printf hello | gzip -n`
        let packed: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86,
            0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
        ]
        let server = RawServer { peer in
            while peer.readRequest() != nil {
                peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
                peer.send(bytes: packed)
            }
        }

        let response = try await HTTPClient(.patient).send(HTTPClientRequest("GET", "http://127.0.0.1:\(server.port)/"))

        #expect(response.text == "hello")
    }
}
