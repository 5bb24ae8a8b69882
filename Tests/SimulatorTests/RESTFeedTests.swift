import AdafruitIO
import Diagnostics
import FastJSON
import Testing

@testable import Simulator

@Suite("The REST interface: keys, feeds and groups", .timeLimit(.minutes(5)))
struct RESTFeedTests {
    @Test(
        "takes the key from a header or the query, in any case of letters",
        arguments: [
            ("/api/v2/ada/feeds", "X-AIO-Key: aio_ada", 200),
            ("/api/v2/ada/feeds", "x-aio-key: aio_ada", 200),
            ("/api/v2/ada/feeds?x-aio-key=aio_ada", "Accept: */*", 200),
            ("/api/v2/ada/feeds?X-AIO-Key=aio_ada", "Accept: */*", 200),
            ("/api/v2/ada/feeds", "X-AIO-Key: wrong", 401),
            ("/api/v2/ada/feeds", "Accept: */*", 401),
            ("/api/v2/ada/feeds", "X-AIO-Key: aio_grace", 403),
            ("/api/v2/nobody/feeds", "X-AIO-Key: aio_ada", 404),
        ]
    )
    func keys(path: String, header: String, status: Int) async throws {
        let world = try WebWorld()

        let answer = try await world.send("GET", path, headers: [header])

        #expect(answer.status == status)
        #expect(!answer.text.contains("aio_ada"))
        if status != 200 { #expect(try answer.json["error"]?.string?.isEmpty == false) }
    }

    @Test("makes a feed from JSON, wrapped or bare, with null members, and from both kinds of forms")
    func createsFeeds() async throws {
        let world = try WebWorld()
        let official = """
            {"feed": {"name": "testfeed", "key": null, "description": null, "unit_type": null, "unit_symbol": null, \
            "history": "ON", "visibility": "Private", "license": null, "status_notify": null, "status_timeout": null}}
            """

        let wrapped = try await world.send("POST", "/api/v2/ada/feeds/", official)
        let bare = try await world.api("POST", "feeds", #"{"name":"Garbage f40afe36","history":false}"#)
        let form = try await world.send(
            "POST",
            "/api/v2/ada/feeds",
            "name=mq6_gas&description=a+b",
            headers: ["X-AIO-Key: aio_ada", "Content-Type: application/x-www-form-urlencoded"]
        )
        let multipart = try await Curl.send(
            "POST",
            world.address + "/api/v2/ada/feeds",
            headers: ["X-AIO-Key: aio_ada"],
            arguments: ["-F", "feed[name]=By Form", "-F", "feed[visibility]=public"]
        )

        #expect([wrapped, bare, form, multipart].map(\.status) == [201, 201, 201, 201])
        #expect(try wrapped.json["key"] == "testfeed")
        #expect(try wrapped.json["history"] == true)
        #expect(try wrapped.json["visibility"] == "private")
        #expect(try bare.json["key"] == "garbage-f40afe36")
        #expect(try bare.json["history"] == false)
        #expect(try form.json["key"] == "mq6-gas")
        #expect(try form.json["description"] == "a b")
        #expect(try multipart.json["key"] == "by-form")
        #expect(try multipart.json["visibility"] == "public")
    }

    @Test("shows a feed with the members that the service shows")
    func shape() async throws {
        let world = try WebWorld()
        _ = try await world.api("POST", "feeds", #"{"name":"DemoFeed"}"#)

        let feed = try await world.api("GET", "feeds/demofeed.json").json

        #expect(
            feed.object?.keys == [
                "username", "owner", "id", "name", "description", "license", "history", "enabled", "visibility",
                "unit_type", "unit_symbol", "last_value", "created_at", "updated_at", "status_notify",
                "status_timeout", "status", "key", "writable", "group", "groups", "feed_webhook_receivers",
                "feed_status_changes",
            ]
        )
        #expect(feed["owner"]?["username"] == "ada")
        #expect(feed["created_at"] == "2020-05-12T20:52:50Z")
        #expect(feed["group"]?["key"] == "default")
        #expect(feed["status_timeout"] == 4320)
        let id = try #require(feed["id"]?.int)
        #expect(try await world.api("GET", "feeds/\(id)").json["key"] == "demofeed")
    }

    @Test("lists complaints about a name, and says 404 as the service does")
    func complaints() async throws {
        let world = try WebWorld()
        _ = try await world.api("POST", "feeds", #"{"name":"taken"}"#)

        let taken = try await world.api("POST", "feeds", #"{"name":"taken"}"#)
        let missing = try await world.api("GET", "feeds/missing")
        let underscore = try await world.api("GET", "feeds/mq6_gas")
        let broken = try await world.api("POST", "feeds", #"{"name":"#)

        #expect(taken.status == 422)
        #expect(taken.text == #"{"error":["Name has already been taken","Key has already been taken"]}"#)
        #expect(missing.status == 404)
        #expect(
            missing.text
                == #"{"error":"not found - API documentation can be found at https://io.adafruit.com/api/docs"}"#
        )
        #expect(underscore.status == 404)
        #expect(underscore.text.contains("not found - that is an invalid URL"))
        #expect(broken.status == 400)
    }

    @Test("refuses the eleventh feed of the free plan with 422")
    func feedLimit() async throws {
        let world = try WebWorld(.free)
        for number in 1...10 {
            #expect(try await world.api("POST", "feeds", #"{"name":"feed \#(number)"}"#).status == 201)
        }

        #expect(try await world.api("POST", "feeds", #"{"name":"feed 11"}"#).status == 422)
        #expect(try await world.api("GET", "feeds").json.array?.count == 10)
    }

    @Test("updates with PUT and PATCH only what is named, and deletes")
    func updates() async throws {
        let world = try WebWorld()
        _ = try await world.api("POST", "feeds", #"{"name":"load","description":"one","unit_symbol":"%"}"#)

        let put = try await world.api("PUT", "feeds/load", #"{"feed":{"description":"two"}}"#)
        let patch = try await world.api("PATCH", "feeds/load", #"{"name":"Load Average"}"#)
        let deleted = try await world.api("DELETE", "feeds/load")

        #expect(try put.json["description"] == "two")
        #expect(try put.json["unit_symbol"] == "%")
        #expect(try patch.json["name"] == "Load Average")
        #expect(try patch.json["key"] == "load")
        #expect(deleted.status == 200)
        #expect(try await world.api("GET", "feeds/load").status == 404)
        #expect(try await world.api("DELETE", "feeds/load").status == 404)
    }

    @Test("keeps feeds of a group under their full keys, also with a doubled slash")
    func groups() async throws {
        let world = try WebWorld()
        let made = try await world.api("POST", "groups/", #"{"id":null,"name":"testgroup","feeds":null,"key":null}"#)
        let feed = try await world.send("POST", "/api/v2/ada//groups/testgroup/feeds", #"{"feed":{"name":"testfeed"}}"#)

        let group = try await world.api("GET", "groups/testgroup").json

        #expect(made.status == 201)
        #expect(try feed.json["key"] == "testgroup.testfeed")
        #expect(group["feeds"]?[0]?["key"] == "testgroup.testfeed")
        #expect(try await world.api("GET", "feeds/testgroup.testfeed").status == 200)
        #expect(try await world.api("GET", "feeds/testfeed").status == 404)
        #expect(try await world.api("GET", "feeds?group_key=testgroup").json.array?.count == 1)
        #expect(try await world.api("DELETE", "groups/testgroup").text == #""OK""#)
        #expect(try await world.api("GET", "groups/testgroup").status == 404)
    }

    @Test("adds a feed to a group and takes it out again")
    func membership() async throws {
        let world = try WebWorld()
        _ = try await world.api("POST", "groups", #"{"name":"weather"}"#)
        _ = try await world.api("POST", "feeds", #"{"name":"humidity"}"#)

        let added = try await world.api("POST", "groups/weather/add?feed_key=humidity").json
        #expect(added["feeds"]?[0]?["key"] == "weather.humidity")
        #expect(try await world.api("GET", "feeds/humidity").json["groups"]?.array?.count == 2)

        let removed = try await world.api("POST", "groups/weather/remove", #"{"feed_key":"humidity"}"#).json
        #expect(removed["feeds"]?.array?.isEmpty == true)
        #expect(try await world.api("GET", "feeds/humidity").status == 200)
    }

    @Test("shows who the key belongs to, the rate and what was done")
    func account() async throws {
        let world = try WebWorld(.free)
        _ = try await world.api("POST", "feeds", #"{"name":"load"}"#)

        let user = try await world.send("GET", "/api/v2/user").json
        let throttle = try await world.api("GET", "throttle").json
        let activities = try await world.api("GET", "activities").json

        #expect(user["user"]?["username"] == "ada")
        #expect(
            user["user"]?["subscription"]?["limits"]
                == ["feeds": 10, "dashboards": 5, "groups": 5, "data_ttl": 2_592_000, "data_rate": 30]
        )
        #expect(throttle["data_rate_limit"] == 30)
        #expect(throttle["active_data_rate"] == 1)
        #expect(throttle["mqtt_ban_error_message"] == .null)
        #expect(activities[0]?["model"] == "Feed")
        #expect(try JSON.parse(activities[0]?["data"]?.string ?? "")["key"] == "load")
        #expect(try await world.api("DELETE", "activities").status == 200)
        #expect(try await world.api("GET", "activities").json.array?.isEmpty == true)
    }

    @Test(
        "tells the time in a zone, taken apart, Sunday being 0",
        arguments: [
            ("?tz=UTC", #"{"year":2020,"mon":5,"mday":12,"hour":20,"min":52,"sec":50,"wday":2,"yday":133,"isdst":0}"#),
            ("", #"{"year":2020,"mon":5,"mday":12,"hour":20,"min":52,"sec":50,"wday":2,"yday":133,"isdst":0}"#),
            (
                "?tz=America/New_York",
                #"{"year":2020,"mon":5,"mday":12,"hour":16,"min":52,"sec":50,"wday":2,"yday":133,"isdst":1}"#
            ),
            (
                "?tz=Asia/Tokyo",
                #"{"year":2020,"mon":5,"mday":13,"hour":5,"min":52,"sec":50,"wday":3,"yday":134,"isdst":0}"#
            ),
        ]
    )
    func time(query: String, text: String) async throws {
        let world = try WebWorld()

        #expect(try await world.api("GET", "integrations/time/struct.json" + query).text == text)
    }

    @Test(
        "refuses a time zone that is a path",
        arguments: ["../../../etc/passwd", "/etc/passwd", "Nowhere/Atall", "."]
    )
    func zones(name: String) async throws {
        let world = try WebWorld()

        #expect(try await world.api("GET", "integrations/time/struct?tz=\(name)").status == 400)
    }

    @Test("answers another method with 405, another address with 404, and a browser's question")
    func addresses() async throws {
        let world = try WebWorld()

        let method = try await world.api("DELETE", "throttle")
        let question = try await world.send("OPTIONS", "/api/v2/ada/feeds", headers: ["Origin: https://example.org"])

        #expect(method.status == 405)
        #expect(method.headers["allow"] == "GET")
        #expect(try await world.api("GET", "nothing/of/that").status == 404)
        #expect(question.headers["access-control-allow-origin"] == "*")
        #expect(try await world.api("GET", "feeds").headers["access-control-allow-origin"] == "*")
    }
}
