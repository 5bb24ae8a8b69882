import AdafruitIO
import Diagnostics
import FastJSON
import Sockets
import TestKit
import Testing

@testable import Simulator

/// What becomes of a message, seen by literal bytes on the wire.
@Suite("The way of a message", .timeLimit(.minutes(5)))
struct PipelineTests {
    private func listen(_ client: WireClient, _ filters: String...) async throws {
        for filter in filters {
            client.send(WireWorld.subscribe(filter))
            try await client.expect([0x90, 0x03, 0x00, 0x01, 0x00])
        }
    }

    @Test("a value goes out on every form of the topic, in the spelling each subscriber used")
    func forms() async throws {
        let world = try WireWorld()
        let sender = try await world.client("s1")
        let plain = try await world.client("p1")
        try await listen(plain, "ada/feeds/Test Mode")
        let csv = try await world.client("p2")
        try await listen(csv, "ada/f/test-mode/csv")
        let json = try await world.client("p3")
        try await listen(json, "ada/f/test-mode/json")
        let other = try await world.client("p4")
        try await listen(other, "ada/f/test mode", "ada/f/other.test-mode")

        sender.send(WireWorld.publish("ada/f/Test Mode/csv", #""on", 40.5, -3, 650"#))

        try await plain.expect(WireWorld.publish("ada/feeds/Test Mode", "on"))
        try await csv.expect(WireWorld.publish("ada/f/test-mode/csv", "on,40.5,-3,650"))
        let object =
            #"{"key":"test-mode","value":"on","last_value":"on","lat":40.5,"lon":-3,"ele":650,"#
            + #""created_at":"2026-05-01T12:00:00.250Z"}"#
        let bytes = WireWorld.publish("ada/f/test-mode/json", object)
        // Longer than 127 bytes: the length takes two.
        try await json.expect([0x30, UInt8(bytes.count - 2) & 0x7F | 0x80, 0x01] + bytes.dropFirst(2))
        try await other.expectNothing()
    }

    @Test("`#` gives plain, JSON and CSV; `+` the plain one only")
    func wildcards() async throws {
        let world = try WireWorld(
            options: {
                var options = SimulatorOptions()
                options.fullJSON = false
                return options
            }()
        )
        let sender = try await world.client("s1")
        let all = try await world.client("p1")
        try await listen(all, "ada/f/#")
        let one = try await world.client("p2")
        try await listen(one, "ada/feeds/+")

        sender.send(WireWorld.publish("ada/f/x", "1"))

        try await all.expect(WireWorld.publish("ada/f/x", "1"))
        try await all.expect(WireWorld.publish("ada/f/x/csv", "1,,,"))
        try await all.expect(WireWorld.publish("ada/f/x/json", #"{"value":"1"}"#))
        try await all.expectNothing()
        try await one.expect(WireWorld.publish("ada/feeds/x", "1"))
        try await one.expectNothing()
    }

    @Test("`/get` is answered to the asking client only, on the topic without it, and silence for an empty feed")
    func get() async throws {
        let world = try WireWorld()
        let asking = try await world.client("a1")
        try await listen(asking, "ada/f/x", "ada/f/x/csv")
        let other = try await world.client("o1")
        asking.send(WireWorld.publish("ada/f/x/get", "\0"))
        try await asking.expectNothing()
        asking.send(WireWorld.publish("ada/f/x", "7"))
        try await asking.expect(WireWorld.publish("ada/f/x", "7"))
        try await asking.expect(WireWorld.publish("ada/f/x/csv", "7,,,"))
        try await listen(other, "ada/f/x", "ada/f/x/csv")

        asking.send(WireWorld.publish("ada/f/x/get", ""))
        asking.send(WireWorld.publish("ada/f/x/csv/get", "anything"))

        try await asking.expect(WireWorld.publish("ada/f/x", "7"))
        try await asking.expect(WireWorld.publish("ada/f/x/csv", "7,,,"))
        try await other.expectNothing()
        #expect(world.service.counters["ada"]?.points == 1)
    }

    @Test("a group's message stores each value, makes missing feeds, and comes back as one with strings")
    func group() async throws {
        let world = try WireWorld()
        _ = try await world.service.executor.run { () throws(StoreError) in
            try world.service.store.createGroup(account: "ada", name: "Weather")
        }
        let sender = try await world.client("s1")
        let json = try await world.client("p1")
        try await listen(json, "ada/groups/weather")
        let feed = try await world.client("p2")
        try await listen(feed, "ada/f/weather.rain", "ada/f/rain")
        let csv = try await world.client("p3")
        try await listen(csv, "ada/g/weather/csv")

        sender.send(WireWorld.publish("ada/g/weather", #"{"feeds":{"rain":2,"sun":"no"}}"#))

        try await json.expect(WireWorld.publish("ada/groups/weather", #"{"feeds":{"rain":"2","sun":"no"}}"#))
        try await feed.expect(WireWorld.publish("ada/f/weather.rain", "2"))
        try await csv.expect(WireWorld.publish("ada/g/weather/csv", "rain,2\nsun,no\n"))
        #expect(world.service.counters["ada"]?.points == 2)

        // A single feed of the group is told to the group as well; the bare key is another feed.
        sender.send(WireWorld.publish("ada/f/weather.rain", "3"))
        try await json.expect(WireWorld.publish("ada/groups/weather", #"{"feeds":{"rain":"3"}}"#))
        try await feed.expect(WireWorld.publish("ada/f/weather.rain", "3"))
        try await feed.expectNothing()
    }

    @Test(
        "what is rejected is said on errors, in the documented words, and counted",
        arguments: [
            ("ada/tele/LWT", #""c1 127.0.0.1 PUBLISH ada/tele/LWT rejected, not a valid resource topic""#),
            (
                "ada/f/a:b",
                #""Validation failed: Name may contain only letters, digits, underscores, spaces, or dashes""#
            ),
            ("bob/g/x", #""c1 127.0.0.1 PUBLISH bob/g/x rejected, only shared feeds may be published to""#),
            ("bob/f/x", #""c1 127.0.0.1 PUBLISH bob/f/x rejected, resource not available or not authorized""#),
            ("ada/f/no.x", #""c1 127.0.0.1 PUBLISH ada/f/no.x rejected, resource not available or not authorized""#),
        ]
    )
    func rejected(topic: String, text: String) async throws {
        let world = try WireWorld()
        let client = try await world.client("c1")
        try await listen(client, "ada/errors")

        client.send(WireWorld.publish(topic, "1", qos: 1))

        try await client.expect([0x40, 0x02, 0x00, 0x01])
        try await client.expect(WireWorld.publish("ada/errors", text))
        #expect(world.service.counters["ada"]?.failedPublishes == 1)
        #expect(world.service.counters["ada"]?.points == 0)
    }

    @Test("ten failed publishes ban the account: no publish, no log-in, until the ban ends")
    func ban() async throws {
        let world = try WireWorld()
        let client = try await world.client("c1")
        try await listen(client, "ada/errors")
        for _ in 0..<10 {
            client.send(WireWorld.publish("ada/x", "1"))
            let text = #""c1 127.0.0.1 PUBLISH ada/x rejected, not a valid resource topic""#
            try await client.expect(WireWorld.publish("ada/errors", text))
        }
        let text = #""enforcement limit reached, your account is banned for 30 seconds""#
        try await client.expect(WireWorld.publish("ada/errors", text))

        client.send(WireWorld.publish("ada/f/x", "1"))
        let blocked = #""c1 127.0.0.1 PUBLISH ada/f/x rejected, user is temporarily blocked""#
        try await client.expect(WireWorld.publish("ada/errors", blocked))
        let late = try world.connect()
        late.send(WireWorld.login("c2"))
        #expect(try await late.readToEnd() == [0x20, 0x02, 0x00, 0x07])
        world.time.advance(by: .seconds(30))
        client.send(WireWorld.publish("ada/f/x", "1"))
        try await client.expectNothing()
        #expect(world.service.counters["ada"]?.points == 1)
        #expect(world.service.counters["ada"]?.bans == 1)
    }

    @Test("the thirty-first point of a minute is refused and the wait is said; later it passes")
    func throttle() async throws {
        let world = try WireWorld(.free)
        let client = try await world.client("c1")
        try await listen(client, "ada/throttle")
        client.send(WireWorld.publish("ada/f/x", "1"))
        try await client.expectNothing()
        world.time.advance(by: .seconds(20))
        // The feed was made by the first point, which costs one more.
        for _ in 0..<28 { client.send(WireWorld.publish("ada/f/x", "1")) }
        try await client.expectNothing()

        client.send(WireWorld.publish("ada/f/x", "2"))
        let text = #""ada data rate limit reached, 40 seconds until throttle released""#
        try await client.expect(WireWorld.publish("ada/throttle", text))
        world.time.advance(by: .seconds(40))
        client.send(WireWorld.publish("ada/f/x", "3"))

        try await client.expectNothing()
        #expect(world.service.counters["ada"]?.points == 30)
        #expect(world.service.counters["ada"]?.rejected == 1)
    }

    @Test("subscriptions that the service does not know are refused with 0x80 and said")
    func badSubscriptions() async throws {
        let world = try WireWorld()
        let client = try await world.client("c1")
        try await listen(client, "ada/errors", "ada/throttle", "ada/#", "ada/g/+", "ada/integration/words/1")
        client.send([0xA2, 0x09, 0x00, 0x02, 0x00, 0x05] + Array("ada/#".utf8))
        try await client.expect([0xB0, 0x02, 0x00, 0x02])
        for filter in ["#", "+/f/x", "bob/f/#", "ada/x", "ada/f/x/get"] {
            client.send(WireWorld.subscribe(filter))
            try await client.expect([0x90, 0x03, 0x00, 0x01, 0x80])
            let text = "\"c1 127.0.0.1 SUBSCRIBE \(filter) rejected, not a valid resource topic\""
            try await client.expect(WireWorld.publish("ada/errors", text))
        }
        client.send(WireWorld.subscribe("bob/errors"))
        try await client.expect([0x90, 0x03, 0x00, 0x01, 0x80])
        #expect(world.service.counters["ada"]?.failedSubscribes == 6)
    }

    @Test("another account's feed is read when it is public, and written when a permission says so")
    func shared() async throws {
        let world = try WireWorld()
        try await world.service.executor.run { () throws(StoreError) in
            var change = FeedChange(name: "open")
            change.visibility = "public"
            _ = try world.service.store.createFeed(account: "bob", change, group: nil)
        }
        let client = try await world.client("c1")
        try await listen(client, "bob/f/open")
        client.send(WireWorld.publish("bob/f/open", "1"))
        try await client.expectNothing()
        try await world.service.executor.run { () throws(StoreError) in
            _ = try world.service.store.createRecord(
                account: "bob",
                .permission,
                parent: "feeds/open",
                key: nil,
                body: ["scope": "user", "scope_value": "ada", "mode": "rw"]
            )
        }

        client.send(WireWorld.publish("bob/f/open", "2"))

        try await client.expect(WireWorld.publish("bob/f/open", "2"))
    }

    @Test("a value over the limit is dropped and said: 1 KB with history, 100 KB without")
    func size() async throws {
        let world = try WireWorld()
        let feeds = [("long", true), ("short", false)]
        for (name, history) in feeds {
            _ = try await world.service.executor.run { () throws(StoreError) in
                var change = FeedChange(name: name)
                change.history = history
                return try world.service.store.createFeed(account: "ada", change, group: nil)
            }
        }
        let client = try await world.client("c1")
        func publish(_ topic: String, _ count: Int) {
            let length = 2 + topic.utf8.count + count
            var bytes: [UInt8] = [0x30, UInt8(length & 0x7F) | 0x80, UInt8(length >> 7 & 0x7F) | 0x80]
            bytes += [UInt8(length >> 14), 0x00, UInt8(topic.utf8.count)] + Array(topic.utf8)
            client.send(bytes + [UInt8](repeating: 0x61, count: count))
        }

        publish("ada/f/long", 1024)
        publish("ada/f/long", 1025)
        publish("ada/f/short", 102_400)
        publish("ada/f/short", 102_401)
        try await client.expectNothing()

        #expect(world.service.counters["ada"]?.points == 2)
        #expect(world.service.counters["ada"]?.failedPublishes == 2)
    }

    @Test("the time topics tick once a second while somebody listens")
    func clocks() async throws {
        let world = try WireWorld()
        let client = try await world.client("c1")
        try await listen(client, "time/seconds", "time/millis", "time/ISO-8601")

        for second in 1...2 {
            world.time.advance(by: .seconds(1))
            try await client.expect(WireWorld.publish("time/seconds", "\(1_777_636_800 + second)"))
            try await client.expect(WireWorld.publish("time/millis", "\(1_777_636_800 + second)250"))
            try await client.expect(WireWorld.publish("time/ISO-8601", "2026-05-01T12:00:0\(second).250Z"))
        }
    }

    @Test("what REST or a dashboard stores goes out to MQTT like any other value")
    func otherDoors() async throws {
        let world = try WireWorld()
        let feed = try await world.service.executor.run { () throws(StoreError) in
            try world.service.store.createFeed(account: "ada", name: "x", group: nil)
        }
        let client = try await world.client("c1")
        try await listen(client, "ada/f/x")

        _ = try await world.service.executor.run { () throws(StoreError) in
            try world.service.write("ON", to: feed, account: "ada")
        }

        try await client.expect(WireWorld.publish("ada/f/x", "ON"))
    }
}
