import Diagnostics
import HTTPClient
import TestKit
import Testing

@Suite("Failures", .timeLimit(.minutes(5)))
struct FailureTests {
    private func failure(
        _ url: String,
        _ change: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) async -> HTTPClientError? {
        var configuration = HTTPClientConfiguration.patient
        change(&configuration)
        return await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(configuration).send(HTTPClientRequest("GET", url))
        }
    }

    @Test("a name that does not exist is `dns`")
    func reportsNames() async {
        let error = await failure("http://no-such-host.invalid/")

        #expect(error?.reason == .dns)
        #expect(error?.mayHaveArrived == false)
        #expect(error?.isRetriable == true)
    }

    @Test("a port on which nobody listens is `connect`")
    func reportsRefusal() async {
        let error = await failure("http://127.0.0.1:1/path?secret=hush")

        #expect(error?.reason == .connect)
        #expect(error?.mayHaveArrived == false)
        #expect(error?.description.hasPrefix("GET http://127.0.0.1:1/path failed: nobody answered (") == true)
        #expect(error?.description.contains("hush") == false)
    }

    @Test("a server that says nothing is `timeout`, and may have got the request")
    func reportsSilence() async {
        let server = RawServer { $0.waitForEnd() }

        var limit = Duration.milliseconds(200)
        var error: HTTPClientError?
        repeat {
            // On a busy machine the time may be over before the request is out: then again with more.
            error = await failure("http://127.0.0.1:\(server.port)/") { $0.totalTimeout = limit }
            limit *= 2
        } while error?.mayHaveArrived == false && limit < .seconds(30)

        #expect(error?.reason == .timeout)
        #expect(error?.mayHaveArrived == true)
    }

    @Test("a response that stops in the middle is `timeout` after the time for stalls")
    func reportsStalls() async {
        let server = RawServer { peer in
            _ = peer.readRequest()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            peer.waitForEnd()
        }

        let error = await failure("http://127.0.0.1:\(server.port)/") { $0.stallTimeout = .seconds(1) }

        #expect(error?.reason == .timeout)
    }

    @Test("a response that breaks off is `connectionLost`")
    func reportsBreaks() async {
        let server = RawServer { peer in
            _ = peer.readRequest()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        }

        let error = await failure("http://127.0.0.1:\(server.port)/")

        #expect(error?.reason == .connectionLost)
    }

    @Test("what is no HTTP is `malformed`")
    func reportsNonsense() async {
        let server = RawServer { peer in
            _ = peer.readRequest()
            peer.send("SSH-2.0-OpenSSH_9.2\r\n")
        }

        let error = await failure("http://127.0.0.1:\(server.port)/")

        #expect(error?.reason == .malformed || error?.reason == .badRequest)
        #expect(error?.mayHaveArrived == true)
    }

    @Test(
        "a response larger than allowed is `tooLarge`, announced, chunked or in its headers",
        arguments: [
            "Content-Length: 2000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7d0\r\n",
            String(repeating: "X-Long: \(String(repeating: "y", count: 1000))\r\n", count: 300) + "\r\n",
        ]
    )
    func reportsSize(rest: String) async {
        let server = RawServer { peer in
            _ = peer.readRequest()
            peer.send("HTTP/1.1 200 OK\r\n\(rest)\(String(repeating: "x", count: 2000))")
            peer.waitForEnd()
        }

        let error = await failure("http://127.0.0.1:\(server.port)/") { $0.largestResponse = 1000 }

        #expect(error?.reason == .tooLarge)
        #expect(error?.isRetriable == false)
    }

    @Test(
        "an address that is none, another scheme and a user in the address are `badRequest`",
        arguments: ["", "nonsense://x/", "file:///etc/passwd", "ftp://127.0.0.1/", "http://ada:hush@127.0.0.1:1/"]
    )
    func refusesAddresses(url: String) async {
        let error = await failure(url)

        #expect(error?.reason == .badRequest)
        #expect(error?.description.contains("hush") == false)
    }

    @Test("a header with a line break is refused, and its value never shows")
    func refusesHeaders() async {
        let client = HTTPClient(.patient)
        for value in ["hush\r\nX-Evil: 1", "hush\n", "hush\0"] {
            let request = HTTPClientRequest(
                "GET",
                "http://127.0.0.1:1/",
                secretHeaders: [("X-AIO-Key", Secret(value))]
            )
            let error = await #expect(throws: HTTPClientError.self) { try await client.send(request) }
            #expect(error?.reason == .badRequest)
            #expect(error.map { "\($0)".contains("hush") } == false)
        }
    }
}
