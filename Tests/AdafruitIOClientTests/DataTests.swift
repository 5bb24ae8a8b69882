import AdafruitIO
import AdafruitIOClient
import DataPoints
import Diagnostics
import HTTPServer
import Testing

@Suite("Data points", .timeLimit(.minutes(5)))
struct DataTests {
    private func key(_ text: String) throws -> FeedKey { try #require(FeedKey(text)) }

    @Test("a point is created with its own time, the key in its header only, and the service's clock comes back")
    func createsPoint() async throws {
        let service = try ScriptedService(.json(Recorded.point).with("Date", "Tue, 12 May 2020 20:52:51 GMT"))
        let point = DataPoint(
            feed: try key("weather-feed.wheater-checkpoint"),
            value: "te\"xt",
            createdAt: Timestamp(nanoseconds: 1_589_316_770_250_000_000),
            location: Location(latitude: 40.4168, longitude: -3.7038, elevation: 650)
        )

        let reply = try await service.client().create(point)

        let asked = try #require(service.requests.first)
        #expect(asked.line == "POST /api/v2/ada/feeds/weather-feed.wheater-checkpoint/data")
        #expect(asked.key == "aio_sesame")
        #expect(
            asked.body == #"{"value":"te\"xt","created_at":"2020-05-12T20:52:50.250Z","#
                + #""lat":40.4168,"lon":-3.7038,"ele":650}"#
        )
        #expect(reply.value.id == "0EEHN9V4J4NSARJB52AH9Z7ZDG")
        #expect(reply.value.value == "text")
        #expect(reply.value.feedKey == "weather-feed.wheater-checkpoint")
        #expect(reply.value.createdAt == Timestamp(iso8601: "2020-05-12T20:52:50Z"))
        #expect(reply.value.expiration == Timestamp(iso8601: "2020-06-11T20:52:50Z"))
        #expect(reply.value.location == Location(latitude: 0, longitude: 0, elevation: 0))
        #expect(reply.date != nil)
    }

    @Test("a time is as exact as it is, and absent where the service shall choose")
    func writesTimes() async throws {
        let service = try ScriptedService(.json(Recorded.point), .json(Recorded.point), .json(Recorded.point))
        let client = try service.client()
        let feed = try key("load")

        _ = try await client.createPoint("1", in: feed)
        _ = try await client.createPoint("1", in: feed, createdAt: Timestamp(nanoseconds: 1_589_316_770_000_000_000))
        _ = try await client.createPoint("1", in: feed, createdAt: Timestamp(nanoseconds: 1_589_316_770_000_001_999))

        #expect(
            service.requests.map(\.body) == [
                #"{"value":"1"}"#, #"{"value":"1","created_at":"2020-05-12T20:52:50Z"}"#,
                #"{"value":"1","created_at":"2020-05-12T20:52:50.000001Z"}"#,
            ]
        )
    }

    @Test("a batch is one request with an object around its list")
    func createsBatch() async throws {
        let list = "[\(Recorded.listed("A", "1")),\(Recorded.listed("B", "2"))]"
        let service = try ScriptedService(.json(list))
        let feed = try key("load")
        let time = Timestamp(nanoseconds: 1_589_316_770_000_000_000)

        let reply = try await service.client()
            .create(
                [
                    DataPoint(feed: feed, value: "1", createdAt: time),
                    DataPoint(feed: feed, value: "2", createdAt: time + .seconds(1)),
                ],
                in: feed
            )

        #expect(service.lines == ["POST /api/v2/ada/feeds/load/data/batch"])
        #expect(
            service.requests.first?.body
                == #"{"data":[{"value":"1","created_at":"2020-05-12T20:52:50Z"},"#
                + #"{"value":"2","created_at":"2020-05-12T20:52:51Z"}]}"#
        )
        #expect(reply.value.map(\.value) == ["1", "2"])
        #expect(reply.value.first?.location == nil)
    }

    @Test("a group's points are an array under REST, with the place beside it")
    func createsGroupPoints() async throws {
        let service = try ScriptedService(.json("[]"))

        try await service.client()
            .create(
                [(feed: "temperature", value: "21.5"), (feed: "humidity", value: "40")],
                inGroup: "my group",
                location: Location(latitude: 1, longitude: 2)
            )

        #expect(service.lines == ["POST /api/v2/ada/groups/my group/data"])
        #expect(
            service.requests.first?.body
                == #"{"feeds":[{"key":"temperature","value":"21.5"},{"key":"humidity","value":"40"}],"#
                + #""location":{"lat":1,"lon":2}}"#
        )
    }

    @Test("the last point, one point, the retained line and a deletion have their own addresses")
    func readsAndDeletes() async throws {
        let service = try ScriptedService(
            .json(Recorded.listed("A", "ON")),
            .json(Recorded.listed("B", "2")),
            .bytes(Array("\"a, b\",40.4,-3.7,\n".utf8), type: "text/csv"),
            .empty(200)
        )
        let client = try service.client()
        let feed = try key("recording")

        #expect(try await client.lastPoint(in: feed).value.value == "ON")
        #expect(try await client.point("B", in: feed).value.id == "B")
        let retained = try await client.retained(in: feed).value
        #expect(retained.value == "a, b")
        #expect(retained.location == Location(latitude: 40.4, longitude: -3.7))
        try await client.deletePoint("A", in: feed)

        let base = "/api/v2/ada/feeds/recording/data"
        #expect(
            service.lines == ["GET \(base)/last", "GET \(base)/B", "GET \(base)/retain", "DELETE \(base)/A"]
        )
    }
}
