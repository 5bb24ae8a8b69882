import AdafruitIO
import Diagnostics
import FastJSON
import TestKit
import Testing

@testable import Simulator

@Suite("The REST interface: data", .timeLimit(.minutes(5)))
struct RESTDataTests {
    /// A world with the feed `load`.
    private func world(
        _ plan: AdafruitIOPlan = .custom(pointsPerMinute: 1000),
        options: SimulatorOptions = SimulatorOptions()
    ) async throws -> WebWorld {
        let world = try WebWorld(plan, options: options)
        #expect(try await world.api("POST", "feeds", #"{"name":"load"}"#).status == 201)
        return world
    }

    @Test("answers a new point in the shape that was captured from the service")
    func shape() async throws {
        let world = try await world()

        let answer = try await world.api("POST", "feeds/load/data", #"{"value":"text","lat":0,"lon":0,"ele":0}"#)

        let json = try answer.json
        let (id, feed) = (json["id"]?.string ?? "", json["feed_id"]?.int ?? 0)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        #expect(id.count == 26)
        #expect(
            answer.text == """
                {"id":"\(id)","value":"text","feed_id":\(feed),"feed_key":"load","created_at":"2020-05-12T20:52:50Z",\
                "location":{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0,0]}},"lat":0,"lon":0,\
                "ele":0,"created_epoch":1589316770,"expiration":"2020-07-11T20:52:50Z"}
                """
        )
        let without = try await world.api("POST", "feeds/load/data", #"{"value":1.50}"#).json
        #expect(without["value"] == "1.50")
        #expect(without["location"] == nil && without["lat"] == nil && without["lon"] == nil && without["ele"] == nil)
    }

    @Test("takes the official client's body, in which all but one member are null")
    func officialBody() async throws {
        let world = try await world()
        let body = """
            {"created_epoch": null, "created_at": null, "updated_at": null, "value": 42, "completed_at": null, \
            "feed_id": null, "expiration": null, "position": null, "id": null, "lat": null, "lon": null, "ele": null}
            """

        #expect(try await world.api("POST", "feeds/load/data", body).json["value"] == "42")
        #expect(try await world.api("POST", "feeds/load/data", #"{"datum":{"value":"43"}}"#).json["value"] == "43")
        #expect(try await world.api("GET", "feeds/load/data/last").json["value"] == "43")
    }

    @Test(
        "refuses a point without a value, of the future, or too long, and counts none of them",
        arguments: [
            (#"{"valu":1}"#, "value is missing"),
            (#"{"value":null}"#, "value is missing"),
            (#"{"value":"1","created_at":"2020-05-12T20:52:51Z"}"#, "data created_at may not be in the future"),
            (#"{"value":"1","created_at":"yesterday"}"#, "created_at is not a time"),
            (#"{"value":"\#(String(repeating: "x", count: 1025))"}"#, "too long"),
        ]
    )
    func refusals(body: String, reason: String) async throws {
        let world = try await world()

        let answer = try await world.api("POST", "feeds/load/data", body)

        #expect(answer.status == 422)
        #expect(answer.text.contains("request failed - Record invalid. Failed to save data to ada/feeds/load. "))
        #expect(answer.text.contains(reason))
        #expect(try await world.api("GET", "feeds/load/data").json.array?.isEmpty == true)
    }

    @Test("without history a value may have 100 KB")
    func longValues() async throws {
        let world = try await world()
        _ = try await world.api("PUT", "feeds/load", #"{"history":false}"#)

        let long = String(repeating: "x", count: 100 * 1024)
        #expect(try await world.api("POST", "feeds/load/data", #"{"value":"\#(long)"}"#).status == 200)
        #expect(try await world.api("POST", "feeds/load/data", #"{"value":"\#(long)x"}"#).status == 422)
    }

    @Test("keeps the time that a back-dated point gives, to its millisecond, and sorts by it")
    func backdated() async throws {
        let world = try await world()
        _ = try await world.api("POST", "feeds/load/data", #"{"value":"now"}"#)
        _ = try await world.api(
            "POST",
            "feeds/load/data",
            #"{"value":"before","created_at":"2020-05-12T22:00:00.250+02:00"}"#
        )

        let list = try await world.api("GET", "feeds/load/data").json

        #expect(list.array?.map { $0["value"]?.string } == ["now", "before"])
        #expect(list[1]?["created_at"] == "2020-05-12T20:00:00Z")
        #expect(try await world.api("GET", "feeds/load/data/last").json["value"] == "now")
        let exact = try await world.api("GET", "feeds/load/data?start_time=2020-05-12T20:00:00.251Z").json
        #expect(exact.array?.count == 1)
    }

    @Test("a back-dated point becomes the last value where the option says so")
    func backdatedOption() async throws {
        var options = SimulatorOptions()
        options.backdatedBecomesLast = true
        let world = try await world(options: options)
        _ = try await world.api("POST", "feeds/load/data", #"{"value":"now"}"#)
        _ = try await world.api("POST", "feeds/load/data", #"{"value":"before","created_at":"2020-05-12T20:00:00Z"}"#)

        #expect(try await world.api("GET", "feeds/load/data/last").json["value"] == "before")
    }

    @Test("stores a batch, wrapped or bare, all of it or nothing")
    func batch() async throws {
        let world = try await world()

        let wrapped = try await world.api("POST", "feeds/load/data/batch", #"{"data":[{"value":1},{"value":2}]}"#)
        let bare = try await world.api("POST", "feeds/load/data/batch", #"[{"value":3}]"#)
        let bad = try await world.api("POST", "feeds/load/data/batch", #"{"data":[{"value":4},{"no":5}]}"#)

        #expect(try wrapped.json.array?.map { $0["value"]?.string } == ["1", "2"])
        #expect(bare.status == 200)
        #expect(bad.status == 422)
        #expect(try await world.api("GET", "feeds/load/data").json.array?.count == 3)
    }

    @Test("answers 429 beyond the data rate, for all of a batch, and goes on when the minute has rolled")
    func rate() async throws {
        let world = try await world(.custom(pointsPerMinute: 5))
        // Making the feed was one of the five.
        let batch = #"{"data":[{"value":1},{"value":2},{"value":3}]}"#
        #expect(try await world.api("POST", "feeds/load/data/batch", batch).status == 200)
        world.time.advance(by: .seconds(20))

        let refused = try await world.api("POST", "feeds/load/data/batch", batch)
        #expect(refused.status == 429)
        #expect(refused.headers["retry-after"] == "40")
        #expect(try refused.json["error"]?.string?.contains("40 seconds until throttle released") == true)
        #expect(try await world.api("GET", "feeds/load/data").json.array?.count == 3)
        // Throttled is throttled, also for what would have had room.
        #expect(try await world.api("POST", "feeds/load/data", #"{"value":4}"#).status == 429)
        #expect(try await world.api("DELETE", "feeds/load").status == 429)

        world.time.advance(by: .seconds(40))
        #expect(try await world.api("POST", "feeds/load/data/batch", batch).status == 200)
    }

    @Test("answers 429 as plain text without the header where the options say so")
    func plainThrottle() async throws {
        var options = SimulatorOptions()
        options.throttleInJSON = false
        options.hasRetryAfter = false
        let world = try await world(.custom(pointsPerMinute: 1), options: options)

        let refused = try await world.api("POST", "feeds/load/data", #"{"value":1}"#)

        #expect(refused.status == 429)
        #expect(refused.text == "Retry later\n")
        #expect(refused.headers["retry-after"] == nil)
    }

    @Test("hands on pages by the Link header that the official client reads, to the last point and none twice")
    func pages() async throws {
        let world = try await world()
        let batch = (1...25).map { #"{"value":\#($0),"created_at":"2020-05-12T20:52:\#($0 / 5 + 10)Z"}"# }
        _ = try await world.api("POST", "feeds/load/data/batch", "[" + batch.joined(separator: ",") + "]")

        var values: [String] = []
        var query: String? = "?limit=10"
        while let wanted = query {
            let answer = try await world.api("GET", "feeds/load/data\(wanted)")
            values += try answer.json.array?.compactMap { $0["value"]?.string } ?? []
            #expect(answer.headers["x-pagination-limit"] == "10")
            #expect(answer.headers["x-pagination-total"] == "25")
            #expect(answer.headers["x-pagination-start"] == "")
            let link = try #require(answer.headers["link"])
            #expect(
                link.hasPrefix("<http://127.0.0.1:\(world.door.port)/api/v2/ada/feeds/load/data?limit=10>;rel=\"next\"")
            )
            // The regular expression of the official client.
            query = link.firstMatch(of: /rel="next", <.+?(\?.+?)>/).map { String($0.1) }
        }

        #expect(values == (1...25).reversed().map(String.init))
        #expect(try await world.api("GET", "feeds/load/data?limit=0").json.array?.count == 1)
        #expect(try await world.api("GET", "feeds/load/data?before=nonsense").status == 400)
    }

    @Test("shows only the members that are asked for, between two times")
    func filters() async throws {
        let world = try await world()
        for minute in 10...14 {
            let body = #"{"value":\#(minute),"created_at":"2020-05-12T20:\#(minute):00Z"}"#
            _ = try await world.api("POST", "feeds/load/data", body)
        }

        let query = "start_time=2020-05-12T20:11:00Z&end_time=2020-05-12T22:13:00+02:00&include=value,id"
        let answer = try await world.api("GET", "feeds/load/data?\(query)")

        #expect(try answer.json.array?.map { $0["value"]?.string } == ["13", "12", "11"])
        #expect(try answer.json[0]?.object?.keys == ["id", "value"])
        #expect(answer.headers["x-pagination-start"] == "2020-05-12T20:11:00.000+0000")
        #expect(answer.headers["x-pagination-end"] == "2020-05-12T20:13:00.000+0000")
    }

    @Test("walks through a feed as through a queue")
    func queue() async throws {
        let world = try await world()
        #expect(try await world.api("GET", "feeds/load/data/last").status == 404)
        #expect(try await world.api("GET", "feeds/load/data/next").status == 404)
        _ = try await world.api("POST", "feeds/load/data/batch", #"[{"value":1},{"value":2}]"#)

        #expect(try await world.api("GET", "feeds/load/data/next").json["value"] == "1")
        #expect(try await world.api("GET", "feeds/load/data/prev").json["value"] == "1")
        #expect(try await world.api("GET", "feeds/load/data/next").json["value"] == "2")
        #expect(try await world.api("GET", "feeds/load/data/previous").json["value"] == "2")
        #expect(try await world.api("GET", "feeds/load/data/next").status == 404)
        #expect(try await world.api("GET", "feeds/load/data/first").json["value"] == "1")
    }

    @Test("gives the last value as CSV, with blanks where there is no place")
    func retain() async throws {
        let world = try await world()
        #expect(try await world.api("GET", "feeds/load/data/retain").text == ",,,\n")

        _ = try await world.api("POST", "feeds/load/data", #"{"value":22.5}"#)
        let answer = try await world.api("GET", "feeds/load/data/retain")
        #expect(answer.text == "22.5,,,\n")
        #expect(answer.headers["content-type"]?.hasPrefix("text/csv") == true)

        _ = try await world.api("POST", "feeds/load/data", #"{"value":"a,b","lat":40.5,"lon":-3.25,"ele":650}"#)
        #expect(try await world.api("GET", "feeds/load/data/retain").text == "\"a,b\",40.5,-3.25,650\n")
    }

    @Test("shows, changes and deletes one point")
    func onePoint() async throws {
        let world = try await world()
        let id = try await world.api("POST", "feeds/load/data", #"{"value":1}"#).json["id"]?.string ?? ""

        #expect(try await world.api("GET", "feeds/load/data/\(id)").json["value"] == "1")
        #expect(try await world.api("PUT", "feeds/load/data/\(id)", #"{"value":2}"#).json["value"] == "2")
        #expect(try await world.api("GET", "feeds/load").json["last_value"] == "2")
        #expect(try await world.api("DELETE", "feeds/load/data/\(id)").status == 200)
        #expect(try await world.api("GET", "feeds/load/data/\(id)").status == 404)
        let details = try await world.api("GET", "feeds/load/details").json
        #expect(details["details"]?["data"]?["count"] == 0)
        #expect(details["details"]?["data"]?["last"] == .null)
    }

    @Test("stores values for several feeds of a group at once, and makes those that are missing")
    func groupData() async throws {
        let world = try await world()
        _ = try await world.api("POST", "groups", #"{"name":"weather"}"#)
        let documented = """
            {"feeds":[{"key":"temperature","value":"21.5"},{"key":"humidity","value":40}],\
            "created_at":"2020-05-12T20:00:00Z","location":{"lat":1,"lon":2,"ele":3}}
            """
        let circuitPython = #"{"feeds":[{"key":"temperature","value":22}],"lat":4,"lon":5,"ele":6}"#

        let first = try await world.api("POST", "groups/weather/data", documented)
        let second = try await world.api("POST", "groups/weather/data", circuitPython)

        #expect(try first.json.array?.map { $0["feed_key"]?.string } == ["weather.temperature", "weather.humidity"])
        #expect(try first.json[1]?["lat"] == 1)
        #expect(try first.json[1]?["created_at"] == "2020-05-12T20:00:00Z")
        #expect(try second.json[0]?["lon"] == 5)
        let list = try await world.api("GET", "groups/weather/feeds/temperature/data").json
        #expect(list.array?.map { $0["value"]?.string } == ["22", "21.5"])
        #expect(try await world.api("POST", "groups/none/data", documented).status == 404)
        let future = #"{"feeds":[{"key":"temperature","value":1}],"created_at":"2030-01-01T00:00:00Z"}"#
        let refused = try await world.api("POST", "groups/weather/data", future)
        #expect(refused.status == 422)
        #expect(refused.text.hasPrefix(#"{"error":"data created_at may not be in the future"#))
    }

    @Test("gathers numbers for a chart")
    func chart() async throws {
        let world = try await world()
        for (minute, value) in [(10, "1"), (10, "3"), (11, "word"), (16, "10")] {
            let body = #"{"value":"\#(value)","created_at":"2020-05-12T20:\#(minute):30Z"}"#
            _ = try await world.api("POST", "feeds/load/data", body)
        }

        let averages = try await world.api("GET", "feeds/load/data/chart?resolution=5").json
        #expect(averages["columns"] == ["date", "avg"])
        #expect(averages["data"] == [["2020-05-12T20:10:00Z", "2"], ["2020-05-12T20:15:00Z", "10"]])
        #expect(averages["feed"]?["key"] == "load")
        #expect(averages["parameters"]?["resolution"] == 5)
        let sums = try await world.api("GET", "feeds/load/data/chart?resolution=60&field=sum").json
        #expect(sums["data"] == [["2020-05-12T20:00:00Z", "14"]])
        let raw = try await world.api("GET", "feeds/load/data/chart?raw=1").json
        #expect(raw["data"]?.array?.map { $0[1]?.string } == ["1", "3", "10"])
        #expect(try await world.api("GET", "feeds/load/data/chart?resolution=7").status == 400)
        #expect(try await world.api("GET", "feeds/load/data/chart?field=median").status == 400)
    }

    @Test("a web hook needs only its token, and takes a value, a whole body, or nothing")
    func webHooks() async throws {
        let world = try await world()
        let token = try await world.api("POST", "tokens", #"{"token":{"feed_key":"load"}}"#).json["key"]?.string ?? ""
        let hook = "/api/v2/webhooks/feed/\(token)"

        let value = try await world.send("POST", hook, #"{"value":"7","lat":1,"lon":2}"#, headers: [])
        let form = try await world.send(
            "POST",
            hook,
            "payload=8",
            headers: ["Content-Type: application/x-www-form-urlencoded"]
        )
        _ = try await world.send("POST", hook + "/raw", #"{"any": "thing"}"#, headers: [])
        _ = try await world.send("POST", hook + "/notify", "", headers: [])

        #expect(try value.json["lat"] == 1)
        #expect(try form.json["value"] == "8")
        let values = try await world.api("GET", "feeds/load/data").json.array?.map { $0["value"]?.string }
        #expect(values == ["ping", #"{"any": "thing"}"#, "8", "7"])
        #expect(try await world.send("POST", "/api/v2/webhooks/feed/wrong", "{}", headers: []).status == 404)
        let feed = try await world.api("GET", "feeds/load").json
        #expect(feed["feed_webhook_receivers"]?[0]?["token"]?.string == token)
    }
}
