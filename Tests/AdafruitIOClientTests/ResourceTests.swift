import AdafruitIOClient
import DataPoints
import FastJSON
import HTTPServer
import Testing

@Suite("Account, feeds, groups, dashboards", .timeLimit(.minutes(5)))
struct ResourceTests {
    @Test("the account is read from the nested record and from the flat one of the documentation")
    func readsUser() async throws {
        let flat = #"{"id":1,"name":"Ada","username":"ada","time_zone":null}"#
        let service = try ScriptedService(.json(Recorded.user), .json(flat))
        let client = try service.client()

        let user = try await client.user().value
        #expect(user.username == "ada")
        #expect(user.timeZone == "Europe/London")
        #expect(user.limits?.pointsPerMinute == 30)
        #expect(user.limits?.feeds == 10)
        #expect(user.limits?.dashboards == 5)
        #expect(user.limits?.retention == .seconds(2_592_000))
        let other = try await client.user().value
        #expect(other.username == "ada")
        #expect(other.limits == nil)
        #expect(service.lines == ["GET /api/v2/user", "GET /api/v2/user"])
    }

    @Test("the throttle is read in its documented form and in the real one")
    func readsThrottle() async throws {
        let real = """
            {"data_rate_limit":30,"active_data_rate":12,"authentication_rate":1,"subscribe_authorization_rate":2,\
            "publish_authorization_rate":3,"hourly_ban_rate":1,"mqtt_ban_error_message":\
            "enforcement limit reached, your account is banned for 60 seconds","active_sms_rate":0}
            """
        let service = try ScriptedService(.json(#"{"data_rate_limit":30,"active_data_rate":0}"#), .json(real))
        let client = try service.client()

        let short = try await client.throttle().value
        #expect(short.pointsPerMinute == 30)
        #expect(short.points == 0)
        #expect(short.banMessage == nil)
        let long = try await client.throttle().value
        #expect(long.points == 12)
        #expect([long.logins, long.subscribes, long.publishes, long.bans] == [1, 2, 3, 1])
        #expect(long.banWait == .seconds(60))
        #expect(service.lines.first == "GET /api/v2/ada/throttle")
    }

    @Test("feeds are listed, created, read with details, changed and deleted")
    func handlesFeeds() async throws {
        let details =
            #"{"details":{"shared_with":[],"data":{"first":\#(Recorded.listed("A", "1")),"last":"#
            + #"\#(Recorded.listed("B", "2")),"count":2}},"# + Recorded.feed.dropFirst()
        let service = try ScriptedService(
            .json("[\(Recorded.feed)]"),
            .json("[]"),
            .json(Recorded.feed, status: 201),
            .json(Recorded.feed, status: 200),
            .json(Recorded.feed),
            .json(details),
            .json(Recorded.feed),
            .empty(200)
        )
        let client = try service.client()
        let key = try #require(FeedKey("demofeed"))

        let feed = try #require(try await client.feeds().value.first)
        #expect(feed.id == 1_373_814)
        #expect(feed.key == "demofeed")
        #expect(feed.name == "DemoFeed")
        #expect(feed.visibility == .private)
        #expect(feed.keepsHistory == true)
        #expect(feed.lastValue == "42")
        #expect(feed.groups == ["default", "weather"])
        #expect(try await client.feeds(inGroup: "weather").value.isEmpty)
        var settings = AdafruitIOFeedSettings(name: "DemoFeed", visibility: .private)
        _ = try await client.createFeed(settings)
        settings.silenceMinutes = 60
        settings.notifiesSilence = true
        settings.keepsHistory = false
        _ = try await client.createFeed(settings, inGroup: "weather")
        #expect(try await client.feed(key).value.key == "demofeed")
        let more = try await client.details(of: key).value
        #expect(more.count == 2)
        #expect(more.first?.value == "1")
        #expect(more.last?.value == "2")
        try await client.updateFeed(key, AdafruitIOFeedSettings(description: "new"))
        try await client.deleteFeed(key)

        #expect(
            service.lines == [
                "GET /api/v2/ada/feeds", "GET /api/v2/ada/groups/weather/feeds", "POST /api/v2/ada/feeds",
                "POST /api/v2/ada/groups/weather/feeds", "GET /api/v2/ada/feeds/demofeed",
                "GET /api/v2/ada/feeds/demofeed/details", "PUT /api/v2/ada/feeds/demofeed",
                "DELETE /api/v2/ada/feeds/demofeed",
            ]
        )
        let bodies = service.requests.map(\.body)
        #expect(bodies[2] == #"{"feed":{"name":"DemoFeed","visibility":"private"}}"#)
        #expect(
            bodies[3]
                == #"{"feed":{"name":"DemoFeed","visibility":"private","history":false,"status_notify":true,"#
                + #""status_timeout":60}}"#
        )
        #expect(bodies[6] == #"{"feed":{"description":"new"}}"#)
    }

    @Test("groups are listed, created, read, changed and deleted, and feeds go in and out")
    func handlesGroups() async throws {
        let group =
            #"{"username":"ada","id":8,"key":"weather","name":"Weather","description":null,"feeds":"#
            + "[\(Recorded.feed)]}"
        let service = try ScriptedService(
            .json("[\(group)]"),
            .json(group),
            .json(group, status: 201),
            .json(group),
            .json(group),
            .json(group),
            .json("\"OK\"")
        )
        let client = try service.client()
        let key = try #require(FeedKey("demofeed"))

        #expect(try await client.groups().value.first?.feeds.first?.key == "demofeed")
        #expect(try await client.group("weather").value.name == "Weather")
        _ = try await client.createGroup("Weather", description: "outside")
        try await client.updateGroup("weather", name: "New")
        _ = try await client.add(key, toGroup: "weather")
        _ = try await client.remove(key, fromGroup: "weather")
        try await client.deleteGroup("weather")

        #expect(
            service.lines == [
                "GET /api/v2/ada/groups", "GET /api/v2/ada/groups/weather", "POST /api/v2/ada/groups",
                "PUT /api/v2/ada/groups/weather", "POST /api/v2/ada/groups/weather/add?feed_key=demofeed",
                "POST /api/v2/ada/groups/weather/remove?feed_key=demofeed", "DELETE /api/v2/ada/groups/weather",
            ]
        )
        #expect(service.requests[2].body == #"{"group":{"name":"Weather","description":"outside"}}"#)
    }

    @Test("a dashboard is made in its three steps, read whole and deleted")
    func handlesDashboards() async throws {
        let start = #"{"id":3,"name":"Home","description":null,"key":"home","visibility":"private","blocks":"#
        let layouts = #""layouts":{"xl":[],"lg":[{"i":"1871","x":0,"y":0,"w":4,"h":4}],"md":[],"sm":[],"xs":[]}"#
        let service = try ScriptedService(
            .json("[\(start)[]}]"),
            .json("\(start)[]}", status: 201),
            .json(Recorded.block),
            .json(#"{"lg":[]}"#),
            .json("\(start)[\(Recorded.block)],\(layouts)}"),
            .json("[\(Recorded.block)]"),
            .json(Recorded.block),
            .json("\(start)[]}"),
            .json("\"OK\""),
            .json("\"OK\"")
        )
        let client = try service.client()

        #expect(try await client.dashboards().value.first?.layouts == nil)
        let settings = AdafruitIODashboardSettings(name: "Home", visibility: .private)
        let dashboard = try await client.createDashboard(settings).value
        var wanted = AdafruitIOBlockSettings(
            visualType: "toggle_button",
            name: "Recording",
            properties: ["onText": "ON", "offText": "OFF"],
            feeds: [AdafruitIOBlockFeed("recording"), AdafruitIOBlockFeed("1373814", group: 7)]
        )
        (wanted.column, wanted.row, wanted.width, wanted.height) = (0, 1, 4, 2)
        let block = try await client.createBlock(wanted, in: dashboard.key).value
        #expect(block.id == "1871")
        #expect(block.visualType == "toggle_button")
        #expect(block.properties["onText"] == "ON")
        #expect(block.feedKeys == ["recording"])
        let place = AdafruitIOLayouts.Place(block: block.id, x: 0, y: 0, width: 4, height: 4)
        try await client.updateLayouts(of: "home", AdafruitIOLayouts(["lg": [place], "xs": []]))
        let whole = try await client.dashboard("home").value
        #expect(whole.blocks == [block])
        #expect(whole.layouts?.places["lg"] == [place])
        #expect(try await client.blocks(of: "home").value == [block])
        try await client.updateBlock("1871", in: "home", AdafruitIOBlockSettings(name: "New"))
        try await client.updateDashboard("home", AdafruitIODashboardSettings(description: "d"))
        try await client.deleteBlock("1871", in: "home")
        try await client.deleteDashboard("home")

        let base = "/api/v2/ada/dashboards"
        #expect(
            service.lines == [
                "GET \(base)", "POST \(base)", "POST \(base)/home/blocks", "POST \(base)/home/update_layouts",
                "GET \(base)/home", "GET \(base)/home/blocks", "PUT \(base)/home/blocks/1871", "PUT \(base)/home",
                "DELETE \(base)/home/blocks/1871", "DELETE \(base)/home",
            ]
        )
        let bodies = service.requests.map(\.body)
        #expect(bodies[1] == #"{"dashboard":{"name":"Home","visibility":"private"}}"#)
        #expect(
            bodies[2]
                == #"{"block":{"name":"Recording","visual_type":"toggle_button","column":0,"row":1,"size_x":4,"size_y":2,"#
                + #""properties":{"onText":"ON","offText":"OFF"},"#
                + #""block_feeds":[{"feed_id":"recording"},{"feed_id":1373814,"group_id":7}]}}"#
        )
        #expect(bodies[3] == #"{"layouts":{"lg":[{"i":"1871","x":0,"y":0,"w":4,"h":4}],"xs":[]}}"#)
    }
}
