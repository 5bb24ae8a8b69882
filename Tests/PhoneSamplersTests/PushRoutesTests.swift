import Diagnostics
import HTTPClient
import HTTPServer
import Samples
import TestKit
import Testing

@testable import PhoneSamplers

@Suite("Addresses for apps", .timeLimit(.minutes(5))) struct PushRoutesTests {
    private struct World {
        let samplers: [RunningSampler]
        let server: HTTPServer
        let client: HTTPClient

        init(_ configurations: PushConfiguration..., token: Secret? = Secret("open sesame")) async throws {
            // Time is not what these tests are about.
            var patience = HTTPClientConfiguration()
            patience.connectTimeout = .seconds(600)
            patience.totalTimeout = .seconds(600)
            patience.stallTimeout = .seconds(600)
            client = HTTPClient(patience)
            var limits = PushRoutes.limits
            limits.requestTime = .seconds(600)
            limits.inactivity = .seconds(600)
            let routes = PushRoutes(log: .silent)
            var samplers: [RunningSampler] = []
            for configuration in configurations { samplers.append(await RunningSampler(configuration)) }
            routes.replace(samplers.map(\.sampler), token: token)
            self.samplers = samplers
            server = try HTTPServer(
                .tcp(host: "127.0.0.1", port: 0),
                routes: routes.routes,
                limits: limits,
                log: .silent
            )
        }

        func post(_ path: String, _ body: String, _ headers: [(String, String)] = []) async throws -> HTTPClientResponse
        {
            try await client.send(
                HTTPClientRequest("POST", url(path), headers: headers, body: Array(body.utf8))
            )
        }

        func url(_ path: String) -> String { "http://127.0.0.1:\(server.port)\(path)" }
    }

    private let batch =
        #"{"locations":[{"geometry":{"coordinates":[2,1]},"properties":{"timestamp":"2025-12-31T10:00:00Z"}}]}"#
    private let bearer = ("Authorization", "Bearer open sesame")

    @Test("nothing comes in without the token, whatever way it is left out")
    func withoutToken() async throws {
        let world = try await World(PushConfiguration(.overland), PushConfiguration(.json(JSONMapping())))
        let wrong: [[(String, String)]] = [
            [], [("Authorization", "Bearer")], [("Authorization", "Bearer wrong")], [("Authorization", "Basic !!!")],
            [("Authorization", "Basic b3BlbiBzZXNhbWU=")], [("Authorization", "Digest open sesame")],
            [("Authorization", "")],
        ]
        for headers in wrong {
            let answer = try await world.post("/in/overland", batch, headers)
            #expect(answer.status == 401)
            #expect(answer["WWW-Authenticate"]?.hasPrefix("Basic") == true)
        }
        #expect(try await world.post("/in/overland?token=open%20sesame", batch).status == 401)
        #expect(try await world.post("/in/json/x?token=wrong", "{\"v\":1}").status == 401)
        #expect(world.samplers[0].sink.samples == 0)

        let closed = try await World(PushConfiguration(.overland), token: nil)
        #expect(try await closed.post("/in/overland", batch, [("Authorization", "Bearer ")]).status == 401)
        let empty = try await World(PushConfiguration(.overland), token: Secret(""))
        #expect(try await empty.post("/in/overland", batch, [("Authorization", "Bearer ")]).status == 401)
    }

    @Test("a bearer token, a password and, where an app can do no other, the address open the door")
    func withToken() async throws {
        let world = try await World(PushConfiguration(.overland), PushConfiguration(.json(JSONMapping())))

        let bearer = try await world.post("/in/overland", batch, [bearer])
        #expect(bearer.status == 200)
        #expect(bearer.text == #"{"result":"ok"}"#)
        // ada:open sesame
        #expect(
            try await world.post("/in/overland", batch, [("Authorization", "Basic YWRhOm9wZW4gc2VzYW1l")]).status == 200
        )
        #expect(try await world.post("/in/json/x?token=open%20sesame", "{\"v\":1}").status == 200)
        #expect(world.samplers[0].sink.samples == 1)
        #expect(world.samplers[1].sink.samples == 1)
    }

    @Test("each app and name has its sampler; what has none is told so")
    func whoTakesIt() async throws {
        let world = try await World(
            PushConfiguration(.overland),
            PushConfiguration(.overland, name: Name(mapping: "ada")),
            PushConfiguration(.json(JSONMapping()), name: Name(mapping: "weather")),
            PushConfiguration(.ownTracks(stepsEvery: nil, secretFile: nil))
        )

        #expect(try await world.post("/in/overland/ada", batch, [bearer]).status == 200)
        #expect(try await world.post("/in/json/weather", "{\"v\":1}", [bearer]).status == 200)
        #expect(world.samplers.map(\.sink.samples) == [0, 1, 1, 0])
        #expect(try await world.post("/in/json/other", "{\"v\":1}", [bearer]).status == 404)
        #expect(try await world.post("/in/overland/bob", batch, [bearer]).status == 404)
        #expect(try await world.post("/in/sensor-logger", "{}", [bearer]).status == 404)
        #expect(try await world.post("/in/nothing", "{}", [bearer]).status == 404)
    }

    @Test("OwnTracks says in headers who it is, and gets a list of commands")
    func ownTracks() async throws {
        let world = try await World(PushConfiguration(.ownTracks(stepsEvery: .seconds(60), secretFile: nil)))
        let place = #"{"_type":"location","lat":1,"lon":2,"tst":1767225500}"#

        let first = try await world.post(
            "/in/owntracks",
            place,
            [bearer, ("X-Limit-U", "ada"), ("X-Limit-D", "phone")]
        )
        let other = try await world.post(
            "/in/owntracks",
            place,
            [bearer, ("X-Limit-U", "bob"), ("X-Limit-D", "phone")]
        )
        let again = try await world.post(
            "/in/owntracks",
            place,
            [bearer, ("X-Limit-U", "ada"), ("X-Limit-D", "phone")]
        )
        let empty = try await world.post("/in/owntracks", "", [bearer])

        #expect(first.text.contains("reportSteps"))
        #expect(other.text.contains("reportSteps"))
        #expect(again.text == "[]")
        #expect(empty.status == 200)
        #expect(empty.text == "[]")
        #expect(world.samplers[0].sink.samples == 2)
    }

    @Test("a body that is no use is told apart from a full disk, and the disk's answer says when to come again")
    func answers() async throws {
        let world = try await World(PushConfiguration(.overland))

        let bad = try await world.post("/in/overland", "garbage", [bearer])
        #expect(bad.status == 400)
        #expect(bad.text.hasPrefix(#"{"error":"The body is no batch of Overland"#))
        world.samplers[0].sink.state.withLock { $0.isFull = true }
        let full = try await world.post("/in/overland", batch, [bearer])
        #expect(full.status == 503)
        #expect(full["Retry-After"] == "30")
        #expect(world.samplers[0].sink.state.withLock { $0.rejected } == 1)
    }

    @Test("a large body without the token is refused, and one with it is read whole")
    func largeBodies() async throws {
        let world = try await World(PushConfiguration(.overland))
        let large = String(repeating: " ", count: 7 << 20)

        #expect(try await world.post("/in/overland", large).status == 401)
        #expect(try await world.post("/in/overland", large, [bearer]).status == 400)
    }

    @Test("a thousand posts of garbage and a hundred clients that hardly speak cost a phone nothing")
    func hostile() async throws {
        let world = try await World(PushConfiguration(.overland), PushConfiguration(.sensorLogger(.auto, .auto)))
        // They stay open all the while.
        var slow: [SlowClient] = []
        for _ in 0..<100 {
            if let client = SlowClient(port: world.server.port) { slow.append(client) }
        }
        for client in slow.prefix(40) { client.say("POST /in/overland HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-") }

        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask { [bearer] in
                    let body = number.isMultiple(of: 2) ? "{\"payload\":[\(number)" : "\u{7F}\u{0}garbage \(number)"
                    return try await world.post("/in/sensor-logger", body, [bearer]).status
                }
            }
            for try await status in group { #expect(status == 400) }
        }
        #expect(try await world.post("/in/overland", batch, [bearer]).status == 200)

        #expect(world.samplers[0].sink.samples == 1)
        #expect(world.samplers[1].sink.samples == 0)
        #expect(world.samplers[1].sink.state.withLock { $0.rejected } == 1000)
        _ = consume slow
    }
}
