import HTTPServer
import TestKit
import Testing

@Suite("Who is answered", .timeLimit(.minutes(5)))
struct AccessTests {
    private func status(_ access: HTTPAccess, host: String, origin: String? = nil) async throws -> String {
        let server = try serve([HTTPRoute(.get, "/") { _ in .empty(200) }], access: access)
        let client = try await RawClient(port: server.port)
        let line = origin.map { "Origin: \($0)\r\n" } ?? ""
        await client.send("GET / HTTP/1.1\r\nHost: \(host)\r\n\(line)\r\n")
        return String(try await client.readResponse().head.dropFirst(9).prefix(3))
    }

    @Test(
        "an address, localhost and a configured name may stand in Host",
        arguments: ["127.0.0.1", "192.168.1.7:8377", "[::1]:80", "[fe80::1]", "localhost:1", "PI.local", "pi.local:80"]
    )
    func answersKnownHosts(host: String) async throws {
        #expect(try await status(.strict(names: ["pi.local"]), host: host) == "200")
    }

    @Test(
        "any other Host gets 421",
        arguments: [
            "evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "[::1", "::1", "1.2.3", ":80",
        ]
    )
    func refusesForeignHosts(host: String) async throws {
        #expect(try await status(.strict(names: ["pi.local"]), host: host) == "421")
    }

    @Test("a page of the server itself and of a welcome origin may call; others get 403")
    func checksOrigins() async throws {
        let access = HTTPAccess.strict(origins: ["https://friend.example"])

        #expect(try await status(access, host: "localhost:80", origin: "http://localhost:80") == "200")
        #expect(try await status(access, host: "localhost:80", origin: "https://friend.example") == "200")
        #expect(try await status(access, host: "localhost:80", origin: "https://localhost:80") == "403")
        #expect(try await status(access, host: "localhost:80", origin: "http://localhost:81") == "403")
        #expect(try await status(access, host: "localhost:80", origin: "https://evil.example") == "403")
        #expect(try await status(access, host: "localhost:80", origin: "null") == "403")
    }

    @Test("an open server answers everybody")
    func answersEverybodyWhenOpen() async throws {
        #expect(try await status(.open, host: "io.adafruit.com", origin: "https://evil.example") == "200")
    }

    @Test("HTTP/1.1 without Host, and with two, gets 400; HTTP/1.0 needs none")
    func wantsOneHost() async throws {
        let server = try serve([HTTPRoute(.get, "/") { _ in .empty(200) }])
        let requests = [
            "GET / HTTP/1.1\r\n\r\n": "400", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: a.b\r\n\r\n": "400",
            "GET / HTTP/1.0\r\n\r\n": "200",
        ]
        for (request, status) in requests {
            let client = try await RawClient(port: server.port)
            await client.send(request)
            #expect(try await client.readResponse().head.dropFirst(9).hasPrefix(status))
        }
    }
}
