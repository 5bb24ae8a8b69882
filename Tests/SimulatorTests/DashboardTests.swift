import AdafruitIO
import Diagnostics
import FastJSON
import TestKit
import Testing

@testable import Simulator

@Suite("Dashboards", .timeLimit(.minutes(5)))
struct DashboardTests {
    /// A world with the feed `recording` and a dashboard `demo` with a toggle for it.
    private func world(_ plan: AdafruitIOPlan = .custom(pointsPerMinute: 1000)) async throws -> WebWorld {
        let world = try WebWorld(plan)
        _ = try await world.api("POST", "feeds", #"{"name":"recording"}"#)
        _ = try await world.api("POST", "dashboards", #"{"dashboard":{"name":"Demo","color_mode":"light"}}"#)
        let block = """
            {"name":"Recording","visual_type":"toggle_button","properties":{"onValue":"ON","offValue":"OFF"},\
            "block_feeds":[{"feed_id":"recording"}]}
            """
        #expect(try await world.api("POST", "dashboards/demo/blocks", block).status == 200)
        return world
    }

    private func state(_ world: WebWorld) async throws -> JSON {
        try await Curl.send("GET", world.address + "/ada/dashboards/demo/state").json
    }

    private func write(_ world: WebWorld, _ value: String, secret: String, _ headers: [String] = []) async throws
        -> Answer
    {
        let feed = try await state(world)["feeds"]?[0]?["id"]?.int ?? 0
        return try await Curl.send(
            "POST",
            world.address + "/ada/dashboards/demo/value",
            headers: ["Content-Type: application/json", "X-Dashboard-Secret: \(secret)"] + headers,
            body: JSON.object(["feed": JSON(feed), "value": .string(value)]).serialized()
        )
    }

    @Test("are made and changed by REST, wrapped or bare, and keep what a change does not name")
    func rest() async throws {
        let world = try await world()

        let made = try await world.api("POST", "dashboards", #"{"name":"dashtest","show_header":null,"blocks":null}"#)
        let changed = try await world.api("PUT", "dashboards/demo", #"{"dashboard":{"description":"Mine"}}"#).json
        let shown = try await world.api("GET", "dashboards/demo").json
        let listed = try await world.api("GET", "dashboards").json

        #expect(made.status == 201)
        #expect(try made.json["key"] == "dashtest")
        #expect(try made.json["layouts"] == nil)
        #expect(changed["color_mode"] == "light")
        #expect(shown["description"] == "Mine")
        #expect(shown["layouts"]?.object?.keys == ["xl", "lg", "md", "sm", "xs"])
        #expect(shown["blocks"]?.array?.count == 1)
        #expect(listed.array?.map { $0["key"]?.string } == ["demo", "dashtest"])
        #expect(try await world.api("DELETE", "dashboards/dashtest").text == #""OK""#)
        #expect(try await world.api("GET", "dashboards/dashtest").status == 404)
    }

    @Test("blocks name their feeds by number, key or group, and a new list replaces the old one")
    func blocks() async throws {
        let world = try await world()
        _ = try await world.api("POST", "groups", #"{"name":"weather"}"#)
        let feed = try await world.api("POST", "groups/weather/feeds", #"{"name":"humidity"}"#).json
        let id = try #require(feed["id"]?.int)
        let block = try #require(try await world.api("GET", "dashboards/demo/blocks").json[0]?["id"]?.string)
        #expect(
            try await world.api("GET", "dashboards/demo/blocks/\(block)").json["block_feeds"]?[0]?["feed"]?["key"]
                == "recording"
        )

        for wanted in ["\(id)", #""weather.humidity""#] {
            let body = #"{"block":{"block_feeds":[{"feed_id":\#(wanted)}]}}"#
            let changed = try await world.api("PUT", "dashboards/demo/blocks/\(block)", body).json
            #expect(changed["block_feeds"]?.array?.map { $0["feed"]?["key"]?.string } == ["weather.humidity"])
            #expect(changed["block_feeds"]?[0]?["group"]?["key"] == "weather")
            #expect(changed["properties"]?["onValue"] == "ON")
        }
        let unknown = #"{"block_feeds":[{"feed_id":"nothing"}]}"#
        #expect(try await world.api("PUT", "dashboards/demo/blocks/\(block)", unknown).status == 422)
        #expect(try await world.api("POST", "dashboards/demo/blocks", #"{"name":"x"}"#).status == 422)
        #expect(try await world.api("DELETE", "dashboards/demo/blocks/\(block)").text == #""OK""#)
        let layouts = try await world.api("GET", "dashboards/demo").json["layouts"]
        #expect(layouts?["lg"]?.array?.isEmpty == true)
    }

    @Test("layouts move blocks, and the page shows them there")
    func layouts() async throws {
        let world = try await world()
        let block = try #require(try await world.api("GET", "dashboards/demo/blocks").json[0]?["id"]?.string)

        let body = #"{"layouts":{"lg":[{"i":"\#(block)","x":4,"y":2,"w":8,"h":3}],"xl":null,"md":null}}"#
        let answer = try await world.api("POST", "dashboards/demo/update_layouts", body).json

        #expect(answer["lg"] == [["i": .string(block), "x": 4, "y": 2, "w": 8, "h": 3]])
        #expect(answer["xl"]?.array?.count == 1)
        let shown = try await state(world)["blocks"]?[0]
        #expect(shown?["x"] == 4 && shown?["y"] == 2 && shown?["w"] == 8 && shown?["h"] == 3)
    }

    @Test(
        "every page and file has a policy that allows nothing from elsewhere",
        arguments: [
            ("/", "text/html"), ("/ada/dashboards/demo", "text/html"), ("/assets/style.css", "text/css"),
            ("/assets/dashboard.js", "text/javascript"), ("/assets/icon.svg", "image/svg+xml"),
            ("/ada/dashboards/demo/state", "application/json"), ("/dashboards.json", "application/json"),
        ]
    )
    func policies(path: String, type: String) async throws {
        let world = try await world()

        let answer = try await Curl.send("GET", world.address + path)

        #expect(answer.status == 200)
        #expect(answer.headers["content-type"]?.hasPrefix(type) == true)
        #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'self';") == true)
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(answer.headers["access-control-allow-origin"] == nil)
        #expect(!answer.text.contains("https://"), "a page names an outside address")
    }

    @Test("every script that a page imports is served")
    func scripts() async throws {
        let world = try await world()
        var waiting = ["dashboard.js", "index.js"]
        var seen: Set<String> = []

        while let name = waiting.popLast() {
            guard seen.insert(name).inserted else { continue }
            let answer = try await Curl.send("GET", world.address + "/assets/\(name)")
            #expect(answer.status == 200, "\(name)")
            waiting += answer.text.matches(of: /from "\.\/([a-z]+\.js)"/).map { String($0.1) }
        }

        #expect(seen.count == 9)
        #expect(try await Curl.send("GET", world.address + "/assets/dashboard.html").status == 404)
        #expect(try await Curl.send("GET", world.address + "/assets/..%2Findex.html").status == 404)
    }

    @Test("a write needs the secret of this start, which only the page's own answer holds")
    func secret() async throws {
        let world = try await world()
        let secret = try #require(try await state(world)["secret"]?.string)

        #expect(secret.count >= 32)
        #expect(try await write(world, "ON", secret: "").status == 403)
        #expect(try await write(world, "ON", secret: "wrong").status == 403)
        #expect(try await world.api("GET", "feeds/recording/data/last").status == 404)
        #expect(try await write(world, "ON", secret: secret).status == 200)
        #expect(try await world.api("GET", "feeds/recording/data/last").json["value"] == "ON")
        let other = try await self.world()
        #expect(try await state(other)["secret"]?.string != secret)
    }

    @Test("another web page can neither read nor write through a browser")
    func foreignPages() async throws {
        let world = try await world()
        let secret = try #require(try await state(world)["secret"]?.string)

        let foreign = try await write(world, "ON", secret: secret, ["Origin: https://example.org"])
        let rebound = try await Curl.send(
            "GET",
            world.address + "/ada/dashboards/demo/state",
            headers: ["Host: attacker.example"]
        )
        let own = try await write(world, "ON", secret: secret, ["Origin: \(world.address)"])

        #expect(foreign.status == 403)
        #expect(rebound.status == 421)
        #expect(!rebound.text.contains(secret))
        #expect(own.status == 200)
    }

    @Test("a write counts as a data point and is refused when the minute is used up")
    func rate() async throws {
        let world = try await world(.custom(pointsPerMinute: 2))
        let secret = try #require(try await state(world)["secret"]?.string)

        #expect(try await write(world, "ON", secret: secret).status == 200)
        let refused = try await write(world, "OFF", secret: secret)

        #expect(refused.status == 429)
        #expect(try refused.json["error"]?.string?.contains("throttled") == true)
        #expect(try await world.api("GET", "feeds/recording/data/last").json["value"] == "ON")
    }

    @Test("values from strangers are told to the page as JSON strings and nothing else")
    func strangers() async throws {
        let world = try await world()
        _ = try await world.api("POST", "feeds/recording/data", #"{"value":"<img src=x onerror=alert(1)>\"\n"}"#)

        let page = try await Curl.send("GET", world.address + "/ada/dashboards/demo")
        let feed = try await state(world)["feeds"]?[0]

        #expect(!page.text.contains("onerror"))
        #expect(feed?["last"]?["value"] == "<img src=x onerror=alert(1)>\"\n")
    }

    @Test("the page hears of points, also back-dated ones, and of changes of its dashboard")
    func events() async throws {
        let world = try await world()
        let stream = try CurlStream(world.address + "/ada/dashboards/demo/events")
        try await until("the page's stream is there") { world.service.hub.count > 0 }

        _ = try await world.api("POST", "feeds/recording/data", #"{"value":"ON","lat":40.5,"lon":-3.25}"#)
        _ = try await world.api("POST", "feeds/recording/data", #"{"value":"OFF","created_at":"2020-05-12T20:00:00Z"}"#)
        _ = try await world.api("PUT", "dashboards/demo", #"{"description":"changed"}"#)

        var events: [(String, JSON)] = []
        var name = ""
        for await line in stream.lines {
            if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { events.append((name, try JSON.parse(String(line.dropFirst(6))))) }
            if events.count == 3 { break }
        }
        #expect(events.map(\.0) == ["point", "point", "dashboard"])
        #expect(events[0].1["point"]?["value"] == "ON")
        #expect(events[0].1["point"]?["lat"] == 40.5)
        #expect(events[0].1["point"]?["time"] == 1_589_316_770_000)
        #expect(events[0].1["last"] == true)
        #expect(events[1].1["last"] == false)
    }

    @Test("another account's page hears nothing, and a dashboard that is not there has none")
    func otherAccounts() async throws {
        let world = try await world()

        #expect(try await Curl.send("GET", world.address + "/grace/dashboards/demo/state").status == 404)
        #expect(try await Curl.send("GET", world.address + "/grace/dashboards/demo/events").status == 404)
        #expect(try await Curl.send("GET", world.address + "/nobody/dashboards/demo/state").status == 404)
    }

    @Test("the first page lists every account's dashboards and feeds")
    func overview() async throws {
        let world = try await world()
        _ = try await world.api("POST", "feeds/recording/data", #"{"value":"ON"}"#)

        let accounts = try await Curl.send("GET", world.address + "/dashboards.json").json["accounts"]

        #expect(accounts?.array?.map { $0["name"]?.string } == ["ada", "grace"])
        #expect(accounts?[0]?["dashboards"]?[0]?["name"] == "Demo")
        #expect(accounts?[0]?["feeds"]?[0]?["last"]?["value"] == "ON")
        #expect(accounts?[1]?["dashboards"]?.array?.isEmpty == true)
    }
}
