import AdafruitIOClient
import DataPoints
import Diagnostics
import HTTPServer
import Testing

@Suite("Refusals and failures", .timeLimit(.minutes(5)))
struct ErrorTests {
    private func failure(_ answer: HTTPResponse) async throws -> AdafruitIOClientError {
        let service = try ScriptedService(answer)
        let client = try service.client()
        let feed = try #require(FeedKey("load"))
        return try #require(
            await #expect(throws: AdafruitIOClientError.self) { try await client.createPoint("1", in: feed) }
        )
    }

    @Test("an error that is a text, a list of texts and no JSON at all is read")
    func readsForms() async throws {
        let text =
            "request failed - Record invalid. Failed to save data to ada/feeds/load. data created_at may not be in "
            + "the future"
        let cases: [(HTTPResponse, AdafruitIORefusal.Reason, [String])] = [
            (.json("{\"error\":\"\(text)\"}", status: 422), .invalid, [text]),
            (
                .json(#"{"error":["Name has already been taken","Key has already been taken"]}"#, status: 422),
                .invalid,
                ["Name has already been taken", "Key has already been taken"]
            ),
            (.text("Retry later\n", status: 429), .throttled, ["Retry later"]),
            (.json(#"{"error":"not found"}"#, status: 404), .notFound, ["not found"]),
            (.json(#"{"error":"invalid key"}"#, status: 401), .keyRefused, ["invalid key"]),
            (.json("", status: 403), .forbidden, []),
            (.bytes(Array("<html><body>Bad</body></html>".utf8), type: "text/html", status: 503), .unavailable, []),
            (.json(#"{"error":{"code":1}}"#, status: 400), .invalid, []), (.empty(301), .other, []),
        ]
        for (answer, reason, messages) in cases {
            let refusal = try #require(try await failure(answer).refusal)
            #expect(refusal.reason == reason)
            #expect(refusal.messages == messages)
            #expect(refusal.status == answer.status)
            #expect(refusal.date != nil)
        }
    }

    @Test("how long to wait comes from Retry-After, in seconds or as a date, or from the sentence")
    func readsWaits() async throws {
        let data = #"{"error":"ada data rate limit reached, 7 seconds until throttle released"}"#
        let date = "Tue, 12 May 2020 20:52:50 GMT"
        let later = "Tue, 12 May 2020 20:53:20 GMT"
        let cases: [(HTTPResponse, Duration?)] = [
            (.text("Retry later", status: 429), nil),
            (.text("Retry later", status: 429).with("Retry-After", "30"), .seconds(30)),
            (.json(data, status: 429), .seconds(7)), (.json(data, status: 422), .seconds(7)),
            (.empty(503).with("Date", date).with("Retry-After", later), .seconds(30)),
            (.empty(503).with("Retry-After", "99999999"), .seconds(86_400)),
            (.empty(503).with("Retry-After", "soon"), nil),
        ]
        for (answer, wait) in cases {
            let error = try await failure(answer)
            #expect(error.refusal?.wait == wait)
            #expect(error.isRetriable)
        }
    }

    @Test("what may be tried again, and what may have been done already, is told apart")
    func tellsWhatToDo() async throws {
        #expect(try await failure(.empty(401)).isRetriable == false)
        #expect(try await failure(.empty(422)).isRetriable == false)
        #expect(try await failure(.empty(422)).mayHaveArrived == false)
        #expect(try await failure(.empty(429)).mayHaveArrived == false)
        #expect(try await failure(.empty(503)).isRetriable)
        #expect(try await failure(.empty(503)).mayHaveArrived)
        #expect(try await failure(.text("fine")).mayHaveArrived)

        var configuration = AdafruitIOClientConfiguration()
        configuration.service = "http://127.0.0.1:1"
        let client = try AdafruitIOClient(username: "ada", key: Secret("k"), configuration)
        let error = await #expect(throws: AdafruitIOClientError.self) { try await client.throttle() }
        #expect(error?.isRetriable == true)
        #expect(error?.mayHaveArrived == false)
    }

    @Test("an answer that lacks what it must have is not taken for success", arguments: ["{}", "[]", "null", "fine"])
    func refusesNonsense(body: String) async throws {
        let error = try await failure(.json(body))

        guard case .notUnderstood = error else {
            Issue.record("unexpected: \(error)")
            return
        }
        #expect(error.isRetriable == false)
    }

    @Test("no text of an error holds the key")
    func hidesKey() async throws {
        let errors = [
            try await failure(.empty(401)), try await failure(.text("fine")), try await failure(.empty(503)),
        ]
        for error in errors {
            #expect(!"\(error)".contains("sesame"))
            #expect(!String(reflecting: error).contains("sesame"))
        }
    }

    @Test(
        "the key goes in the clear to this machine only",
        arguments: [
            ("http://localhost:8080", true), ("http://127.0.0.1:1", true), ("http://127.1.2.3", true),
            ("http://[::1]:80", true), ("https://io.adafruit.com", true), ("https://io.adafruit.com/", true),
            ("http://io.adafruit.com", false), ("http://127.0.0.1.evil.example", false), ("http://127.evil", false),
            ("http://localhost.evil.example", false), ("http://[::1].evil.example", false), ("http://[::2]", false),
            ("http://10.0.0.1", false), ("http://127.0.0.1:80@evil.example", false), ("ftp://localhost", false),
            ("localhost:8080", false), ("https://", false), ("https://a?b", false), ("https://ada:sesame@a", false),
        ]
    )
    func refusesPlaintext(service: String, isFine: Bool) {
        var configuration = AdafruitIOClientConfiguration()
        configuration.service = service
        do throws(AdafruitIOClientError) {
            _ = try AdafruitIOClient(username: "ada", key: Secret("k"), configuration)
            #expect(isFine)
        } catch {
            #expect(!isFine)
            #expect(!"\(error)".contains("sesame"))
        }
    }

    @Test("plain text to another host can be allowed")
    func allowsPlaintext() throws {
        var configuration = AdafruitIOClientConfiguration()
        configuration.service = "http://10.0.0.1:8080"
        configuration.insecurePlaintext = true

        _ = try AdafruitIOClient(username: "ada", key: Secret("k"), configuration)
    }
}
