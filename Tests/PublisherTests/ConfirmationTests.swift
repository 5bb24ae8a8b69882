import DataPoints
import Diagnostics
import Publisher
import Testing

@Suite("Publisher: confirmation")
struct ConfirmationTests {
    let feed: FeedKey

    init() throws {
        feed = try #require(FeedKey("load"))
    }

    private func ready() -> Bench {
        var bench = Bench(feeds: [feed])
        bench.connect()
        return bench
    }

    @Test("only an equal text on this connection confirms a point; a PUBACK does not")
    func echo() throws {
        var bench = ready()
        bench.sample(feed, "1.5")
        let message = try #require(bench.messages.first)

        bench.mqtt(.acknowledged(message: message))
        #expect(bench.confirmed == [])
        bench.mqtt(.echoed(feed, "1.50"))
        #expect(bench.confirmed == [])
        bench.hand(.mqtt(connection: 7, .echoed(feed, "1.5")))
        #expect(bench.confirmed == [])
        bench.mqtt(.echoed(feed, "1.5"))
        #expect(bench.confirmed == [1])
    }

    @Test("a feed has at most one unconfirmed MQTT point")
    func one() {
        var bench = ready()
        bench.sample(feed, "1")
        bench.sample(feed, "2")
        #expect(bench.published.isEmpty)

        bench.mqtt(.echoed(feed, "1"))
        #expect(bench.published.map(\.id) == [2])
    }

    @Test("a lost echo is looked up before the point is sent again", arguments: [true, false])
    func lostEcho(isStored: Bool) throws {
        var bench = ready()
        bench.sample(feed, "1")
        let message = try #require(bench.messages.first)
        bench.mqtt(.acknowledged(message: message))

        bench.wait(9.9)
        #expect(bench.lookUps.isEmpty && bench.posts.isEmpty)
        bench.wait(10.2)
        let request = try #require(bench.lookUps.first)
        #expect(bench.posts.isEmpty)
        let entry = StoredPoint(id: "a", text: "1", createdAt: bench.time(1000.3))
        bench.hand(.answered(request: request, .listed(isStored ? [entry] : [], isComplete: true)))

        #expect(bench.confirmed == (isStored ? [1] : []))
        #expect(bench.posts.flatMap(\.points).map(\.id) == (isStored ? [] : [1]))
    }

    @Test("after a lost answer every point is looked up, and only what is missing is sent again")
    func lostAnswer() throws {
        var bench = ready()
        bench.mqtt(.ended(.failed(.refused)))
        for second in 0..<3 {
            bench.sample(feed, "\(second)")
            bench.wait(5)
        }
        // MQTT was tried again and stays down.
        bench.wait(20)
        let post = try #require(bench.posts.first)
        #expect(post.points.map(\.id) == [1, 2, 3])
        bench.hand(.answered(request: post.request, .lost(.keepAlive)))
        #expect(bench.posts.isEmpty)
        bench.wait(30)
        let request = try #require(bench.lookUps.first)
        let stored = [post.points[0], post.points[2]].enumerated().map {
            StoredPoint(id: "\($0.offset)", text: $0.element.point.value, createdAt: $0.element.point.createdAt)
        }
        bench.hand(.answered(request: request, .listed(stored, isComplete: true)))

        #expect(bench.confirmed == [1, 3])
        #expect(bench.posts.flatMap(\.points).map(\.id) == [2])
    }

    @Test("without history a lost point is sent again and counted as a doubt")
    func withoutHistory() throws {
        var bench = ready()
        var settings = bench.settings
        settings.feedsWithoutHistory = [feed]
        bench.hand(.configuration(settings))
        bench.sample(feed, "1")

        bench.wait(21)

        #expect(bench.lookUps.isEmpty)
        #expect(bench.posts.flatMap(\.points).map(\.id) == [1])
        #expect(bench.actions.contains(.doubt(1)))
    }

    @Test("a text whose echo may still be another's goes by REST")
    func ambiguous() throws {
        var bench = ready()
        bench.sample(feed, "1")
        bench.mqtt(.echoed(feed, "1"))
        bench.sample(feed, "1")
        #expect(bench.published.isEmpty)
        let post = try #require(bench.posts.first)
        bench.hand(.answered(request: post.request, .stored))
        #expect(bench.confirmed == [2])
        bench.wait(15)
        bench.sample(feed, "1")
        #expect(bench.published.map(\.id) == [3])
    }

    @Test("what was being sent when the program died is looked up first")
    func crash() throws {
        var bench = ready()
        bench.sample(feed, "1")
        let sent = try #require(bench.published.first)
        try bench.restart()
        bench.hand(.start(waiting: [feed: 1]))
        bench.connect()
        bench.hand(.tick)
        var again = sent
        again.attempts = 1
        bench.hand(.page(feed, [again], hasMore: false))
        #expect(bench.published.isEmpty && bench.posts.isEmpty)

        bench.wait(11)
        let request = try #require(bench.lookUps.first)
        let entry = StoredPoint(id: "a", text: "1", createdAt: bench.time(1000.4))
        bench.hand(.answered(request: request, .listed([entry], isComplete: true)))

        #expect(bench.confirmed == [1])
    }

    @Test("a final refusal of one point goes to the dead letters, and the rest goes on")
    func refusal() throws {
        var bench = ready()
        bench.mqtt(.ended(.final(.refused)))
        bench.sample(feed, "bad")
        let post = try #require(bench.posts.first)
        bench.hand(.answered(request: post.request, RESTOutcome(status: 422, text: "value is not taken")))
        #expect(bench.refused == [1])
        bench.sample(feed, "good")
        #expect(bench.posts.flatMap(\.points).map(\.id) == [2])
    }

    @Test("a value that is too large is refused before it is sent")
    func tooLarge() {
        var bench = ready()
        bench.sample(feed, String(repeating: "x", count: 1025))
        #expect(bench.refused == [1])
        #expect(bench.isSilent)
    }

    @Test("a point in the service's future waits for its time")
    func future() throws {
        var bench = ready()
        bench.mqtt(.ended(.final(.refused)))
        let point = DataPoint(feed: feed, value: "1", createdAt: bench.time(bench.now + 30))
        bench.hand(.accepted([PublisherPoint(id: 1, point: point, bornAt: bench.boot)]))
        #expect(bench.posts.isEmpty)
        bench.wait(29)
        #expect(bench.posts.isEmpty)
        bench.wait(4)
        #expect(bench.posts.count == 1)
    }

    @Test(
        "a live point waits for the answer about its echoes, not for long; without them it goes by REST",
        arguments: [true, false, nil]
    )
    func waitsForSubscription(isGranted: Bool?) throws {
        var bench = Bench(feeds: [feed])
        bench.settings.liveWithin = .seconds(60)
        bench.hand(.configuration(bench.settings))
        bench.mqtt(.connected)
        var throttleRead: Int?
        for filter in [PublisherFilter.control, .errors, .throttle] {
            throttleRead = throttleRead ?? bench.throttleRead
            bench.mqtt(.subscribed(filter))
        }
        let request = try #require(throttleRead ?? bench.throttleRead)
        #expect(bench.subscribed == [.feed(feed)])
        bench.hand(.answered(request: request, .throttle(limit: 30, used: 0)))

        bench.sample(feed, "1")
        #expect(bench.published.isEmpty && bench.posts.isEmpty)

        switch isGranted {
        case true?: bench.mqtt(.subscribed(.feed(feed)))
        case false?: bench.mqtt(.subscribeFailed(.feed(feed)))
        case nil: bench.wait(10.1)
        }
        #expect(bench.published.count == (isGranted == true ? 1 : 0))
        #expect(bench.posts.count == (isGranted == true ? 0 : 1))
    }

    @Test("a message whose point has left the outbox was not sent: the next point goes at once, and it costs nothing")
    func goneMessage() {
        var bench = ready()
        bench.sample(feed, "1")
        #expect(bench.published.map(\.id) == [1])
        let used = bench.machine.status.used
        bench.sample(feed, "2")
        #expect(bench.published.isEmpty)

        bench.hand(.gone(feed, [1]))

        #expect(bench.published.map(\.id) == [2])
        #expect(bench.machine.status.used == used)
        #expect(bench.confirmed.isEmpty && bench.refused.isEmpty)
    }

    @Test("a request goes on without the points that have left the outbox, and ends when none is left")
    func goneRequest() throws {
        var bench = ready()
        bench.mqtt(.ended(.final(.refused)))
        bench.sample(feed, "1")
        let first = try #require(bench.posts.first)
        bench.sample(feed, "2")
        bench.sample(feed, "3")
        bench.hand(.answered(request: first.request, .stored))
        let second = try #require(bench.posts.first)
        #expect(second.points.map(\.id) == [2, 3])

        bench.hand(.gone(feed, [2]))
        bench.hand(.answered(request: second.request, .stored))
        #expect(bench.confirmed == [3])

        bench.sample(feed, "4")
        #expect(bench.posts.count == 1)
        bench.hand(.gone(feed, [4]))
        bench.sample(feed, "5")
        #expect(bench.posts.map(\.points).joined().map(\.id) == [5])
    }

    @Test("the outbox is asked what it still has when it has changed, and what it lost or found is taken up")
    func counts() {
        var bench = ready()
        bench.sample(feed, "1")
        for number in 2...4 { bench.sample(feed, "\(number)") }

        bench.hand(.changed([feed]))
        #expect(bench.actions.contains(.count(feed, newest: 4, among: [2, 3, 4])))
        // What comes and goes meanwhile is not in the answer.
        bench.sample(feed, "5")
        bench.mqtt(.echoed(feed, "1"))
        #expect(bench.published.map(\.id) == [2])
        bench.hand(.counted(feed, waiting: 2, gone: [3, 4]))
        bench.mqtt(.echoed(feed, "2"))
        #expect(bench.published.map(\.id) == [5])

        // Two points of a damaged file are back: older ones than all that was seen.
        bench.hand(.changed([feed]))
        bench.hand(.counted(feed, waiting: 3, gone: []))
        #expect(bench.machine.status.backlog == 2)
        bench.mqtt(.echoed(feed, "5"))
        #expect(bench.actions.contains(.requestPage(feed, after: 0, limit: 100)))
    }
}
