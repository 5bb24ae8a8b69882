import DataPoints
import Diagnostics
import Publisher
import Testing

@Suite("Publisher: limits, hold-offs and links")
struct PublisherLimitTests {
    let feed: FeedKey
    let other: FeedKey

    init() throws {
        feed = try #require(FeedKey("load"))
        other = try #require(FeedKey("other"))
    }

    private func ready(plan: Int? = nil) -> Bench {
        var bench = Bench(feeds: [feed], plan: plan)
        bench.connect()
        return bench
    }

    @Test("nothing is sent on either link while the account is held off; then /throttle is read, then it goes on")
    func ban() throws {
        var bench = ready()
        bench.mqtt(.banned(.seconds(90)))
        bench.sample(feed, "1")
        #expect(bench.isSilent)
        bench.wait(89)
        #expect(bench.isSilent)
        bench.wait(3)
        let request = try #require(bench.throttleRead)
        #expect(bench.posts.isEmpty && bench.published.isEmpty && bench.connects == 0)
        bench.hand(.answered(request: request, .throttle(limit: 30, used: 0)))
        #expect(bench.posts.count == 1)
    }

    @Test("429 holds the account, as long as it says, or 30 s", arguments: [(Double?.none, 30.0), (75, 75)])
    func tooMany(told: Double?, expected: Double) throws {
        var bench = ready()
        bench.mqtt(.ended(.final(.refused)))
        bench.sample(feed, "1")
        let post = try #require(bench.posts.first)
        bench.hand(.answered(request: post.request, .throttled(retryAfter: told.map { .seconds($0) })))
        bench.wait(expected)
        #expect(bench.isSilent)
        bench.wait(2)
        #expect(bench.throttleRead != nil)
    }

    @Test("hold-offs and the budget survive a restart, and a reboot")
    func survive() throws {
        for bootID in ["a", "b"] {
            var bench = ready()
            for number in 0..<5 {
                bench.sample(feed, "\(number)")
                bench.mqtt(.echoed(feed, "\(number)"))
            }
            bench.mqtt(.banned(.seconds(120)))
            bench.wait(5)
            try bench.restart(bootID: bootID)
            #expect(bench.isSilent)
            #expect(bench.machine.status.used == 5)
            #expect(bench.machine.status.reason == .banned)
            bench.wait(110)
            #expect(bench.isSilent)
            bench.wait(15)
            #expect(!bench.isSilent)
        }
    }

    @Test("a wrong key costs one log-in in 15 minutes, and a new key is tried at once")
    func wrongKey() {
        var bench = Bench(feeds: [feed])
        #expect(bench.connects == 1)
        #expect(bench.throttleRead == nil, "REST waits for the verdict")
        bench.mqtt(.ended(.keyRefused))
        bench.sample(feed, "1")
        bench.wait(890)
        #expect(bench.isSilent)
        #expect(bench.machine.status.reason == .keyRefused)
        bench.hand(.keyChanged)
        #expect(bench.connects == 1)
    }

    @Test("401 stops MQTT too")
    func unauthorized() throws {
        var bench = ready()
        bench.sample(feed, "1")
        bench.mqtt(.echoed(feed, "1"))
        bench.sample(feed, "1")
        let post = try #require(bench.posts.first)
        bench.hand(.answered(request: post.request, RESTOutcome(status: 401, text: "")))
        #expect(bench.actions.contains(.disconnect(connection: 1)))
        bench.mqtt(.ended(.failed(.closed)))
        bench.wait(880)
        #expect(bench.isSilent)
    }

    @Test("REST takes over after 30 s, and MQTT again once it has been up for 10 s")
    func fallback() throws {
        var bench = ready()
        #expect(bench.machine.status.link == .mqtt)
        bench.mqtt(.ended(.failed(.refused)))
        bench.wait(29)
        #expect(bench.machine.status.link == nil)
        if bench.connects > 0 { bench.hand(.mqtt(connection: bench.connection, .ended(.failed(.refused)))) }
        bench.wait(3)
        #expect(bench.machine.status.link == .rest)
        bench.sample(feed, "1")
        let post = try #require(bench.posts.first)
        bench.hand(.answered(request: post.request, .stored))
        #expect(bench.confirmed == [1])
        for _ in 0..<100 where bench.connects == 0 { bench.wait(5) }
        bench.connect()
        #expect(bench.machine.status.link == .rest)
        bench.wait(11)
        #expect(bench.machine.status.link == .mqtt)
    }

    @Test("REST takes over at once when MQTT is held off for longer")
    func fallbackAtOnce() {
        var bench = ready()
        bench.mqtt(.ended(.throttled(.throttled)))
        #expect(bench.machine.status.link == .rest)
    }

    @Test("the switch has a reserve, and is not queued when nothing may be sent")
    func reserve() {
        var bench = ready(plan: 15)
        for number in 0..<20 {
            bench.sample(feed, "\(number)")
            if !bench.published.isEmpty { bench.mqtt(.echoed(feed, "\(number)")) }
        }
        #expect(bench.machine.status.left == 1)
        bench.hand(.ask(OwnRequest(id: 1, .write(other, "ON"))))
        #expect(bench.actions.contains(.grant(1, .mqtt)))
        bench.hand(.ask(OwnRequest(id: 2, .write(other, "OFF"))))
        #expect(bench.actions.contains { if case .deny(2, _) = $0 { true } else { false } })
        bench.mqtt(.banned(.seconds(60)))
        bench.hand(.ask(OwnRequest(id: 3, .read)))
        #expect(bench.actions.contains { if case .deny(3, let until) = $0 { until != nil } else { false } })
    }

    @Test("a write that may have to make its feed counts twice: making a feed costs, too")
    func newFeed() {
        var bench = ready()
        bench.hand(.feedUnknown(other))
        bench.hand(.ask(OwnRequest(id: 1, .write(other, "ON"))))
        #expect(bench.machine.status.used == 2)
        bench.hand(.feedReady(other))
        bench.hand(.ask(OwnRequest(id: 2, .write(other, "OFF"))))
        #expect(bench.machine.status.used == 3)
    }

    @Test("points of others on our feeds cost budget")
    func foreign() {
        var bench = ready()
        for number in 0..<10 { bench.mqtt(.echoed(feed, "not ours \(number)")) }
        #expect(bench.machine.status.left == 20)
    }

    @Test("a connection that takes messages and gives nothing back is made anew")
    func silent() {
        var bench = ready()
        for number in 0..<3 {
            bench.sample(feed, "\(number)")
            bench.wait(10.5)
            if let request = bench.lookUps.first { bench.hand(.answered(request: request, .missing)) }
            bench.wait(10.5)
            for lookUp in bench.lookUps { bench.hand(.answered(request: lookUp, .missing)) }
            for post in bench.posts { bench.hand(.answered(request: post.request, .stored)) }
        }
        bench.wait(11)
        #expect(bench.machine.status.link != .mqtt)
    }

    @Test("more feeds than 20 are heard by one filter, and few subscribes are left for what must be")
    func filters() throws {
        let feeds = try (0..<21).map { try #require(FeedKey("feed-\($0)")) }
        var bench = Bench(feeds: feeds)
        bench.mqtt(.connected)
        #expect(bench.subscribed == [.control, .errors, .throttle])
        var more: [PublisherFilter] = []
        for filter in bench.subscribed {
            bench.mqtt(.subscribed(filter))
            more += bench.subscribed
        }
        #expect(more == [.allFeeds])
    }

    @Test("feeds that are followed are subscribed to beside those of rules, also when they come later")
    func followed() {
        var bench = Bench(feeds: [feed])
        bench.settings.followed = [other, feed]
        bench.hand(.configuration(bench.settings))
        bench.mqtt(.connected)
        var more: [PublisherFilter] = []
        for filter in bench.subscribed {
            bench.mqtt(.subscribed(filter))
            more += bench.subscribed
        }
        #expect(more == [.feed(feed), .feed(other)])

        var later = ready()
        later.settings.followed = [other]
        later.hand(.configuration(later.settings))
        #expect(later.subscribed == [.feed(other)])

        var plain = Bench(feeds: [], profile: .plain(inFlight: 4, pointsPerMessage: 1))
        plain.settings.followed = [other]
        plain.hand(.configuration(plain.settings))
        plain.mqtt(.connected)
        #expect(plain.subscribed == [.control, .feed(other)])
    }

    @Test("rules that want too much are slowed down by weight, said once with the numbers")
    func stretch() throws {
        let rules = [
            RuleDemand(feed: feed, interval: .seconds(2), weight: 1),
            RuleDemand(feed: other, interval: .seconds(2), weight: 3),
        ]
        let stretch = IntervalStretch(rules: rules, allowed: 20)
        #expect(stretch.intervals[feed] == .seconds(12))
        #expect(stretch.intervals[other] == .seconds(4))
        #expect("\(stretch)".contains("want 60.0 points a minute and 20.0 may be sent"))

        var bench = Bench(feeds: [])
        var settings = bench.settings
        settings.rules = rules
        bench.hand(.configuration(settings))
        #expect(bench.actions.contains { if case .report(.stretched) = $0 { true } else { false } })
        bench.wait(100)
        #expect(!bench.actions.contains { if case .report(.stretched) = $0 { true } else { false } })
    }

    @Test("a plain broker: many under way, PUBACK confirms, and a new connection sends the rest again in order")
    func plain() {
        var bench = Bench(feeds: [feed], profile: .plain(inFlight: 4, pointsPerMessage: 1))
        bench.connect()
        for number in 0..<6 { bench.sample(feed, "\(number)") }
        var sent: [Int] = []
        bench.hand(.tick)
        bench.mqtt(.acknowledged(message: 2))
        #expect(bench.confirmed == [2])
        sent = bench.published.map(\.id)
        #expect(sent == [5])
        bench.mqtt(.ended(.failed(.closed)))
        #expect(bench.actions.contains(.doubt(4)))
        bench.wait(40)
        bench.connect()
        bench.hand(.tick)
        #expect(bench.machine.status.doubt == 4)
    }

    @Test("a backlog leaves after a reconnect without waiting for a new point")
    func wakesByItself() throws {
        var bench = ready()
        bench.mqtt(.ended(.failed(.refused)))
        for number in 0..<5 { bench.sample(feed, "\(number)") }
        // Both links are down for a while.
        bench.wait(40)
        while let post = bench.posts.first {
            bench.hand(.answered(request: post.request, .notSent(.refused)))
        }
        bench.hand(.mqtt(connection: bench.connection, .ended(.failed(.refused))))
        #expect(bench.confirmed.isEmpty)

        var sent: [Int] = []
        for _ in 0..<200 where sent.count < 5 {
            bench.wait(5)
            if bench.connects > 0 { bench.connect() }
            while let post = bench.posts.first {
                sent += post.points.map(\.id)
                bench.hand(.answered(request: post.request, .stored))
            }
        }
        #expect(sent == [1, 2, 3, 4, 5])
    }

    @Test("nothing is sent to a feed that may not exist, on either link, so no feed is made by accident")
    func unknownFeed() throws {
        var bench = Bench(feeds: [feed, other])
        bench.connect()
        bench.hand(.feedUnknown(feed))
        bench.sample(feed, "1")
        #expect(bench.isSilent)
        bench.sample(other, "2")
        #expect(bench.published.map(\.point.feed) == [other])
        bench.mqtt(.echoed(other, "2"))
        bench.wait(30)
        #expect(bench.posts.isEmpty)

        bench.hand(.feedReady(feed))
        #expect(bench.posts.map { $0.points.map(\.id) } == [[1]])
    }

    @Test("a feed for which the account has no room is said, its points wait, and the other feeds go on")
    func feedLimit() throws {
        var bench = Bench(feeds: [feed, other])
        bench.connect()
        bench.mqtt(.ended(.final(.refused)))
        bench.sample(feed, "1")
        let post = try #require(bench.posts.first)
        bench.hand(
            .answered(request: post.request, RESTOutcome(status: 422, text: "You have reached the feed limit of 10"))
        )
        #expect(bench.actions.contains(.report(.feedLimit(feed))))
        #expect(bench.refused.isEmpty)
        bench.sample(other, "2")
        #expect(bench.posts.map { $0.points.map(\.id) } == [[2]])
        let next = try #require(bench.posts.first)
        bench.hand(.answered(request: next.request, .stored))
        #expect(bench.confirmed == [2])
        bench.wait(880)
        #expect(bench.posts.isEmpty)
        // Upgraded, or another feed deleted.
        bench.wait(30)
        #expect(bench.posts.map { $0.points.map(\.id) } == [[1]])
    }
}
