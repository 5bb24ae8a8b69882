import AdafruitIO
import DataPoints
import Diagnostics
import FastJSON
import TestKit
import Testing

@testable import Simulator

@Suite("The simulator's store")
struct StoreTests {
    let time = ManualTime()

    private func store(_ plan: AdafruitIOPlan = .plus, file: String? = nil) throws -> SimulatorStore {
        let store = try SimulatorStore(file: file, time: time)
        try store.addAccount("ada", plan: plan)
        return store
    }

    private func later(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_700_000_000 + seconds) }

    @Test("makes the key from the name and finds the feed by either")
    func namesAndKeys() throws {
        let store = try store()

        let feed = try store.createFeed(account: "ada", name: "Mq6_Gas Level", group: nil)

        #expect(feed.key == "mq6-gas-level")
        #expect(feed.fullKey == "mq6-gas-level")
        #expect(try store.feed(account: "ada", identifier: "Mq6_Gas Level")?.id == feed.id)
        #expect(try store.feed(account: "ada", identifier: "mq6-gas-level")?.id == feed.id)
        #expect(try store.feed(account: "ada", identifier: "mq6_gas_level")?.id == feed.id)
        #expect(try store.feed(account: "ada", identifier: "other") == nil)
    }

    @Test("a feed of a group has no bare key")
    func groups() throws {
        let store = try store()
        _ = try store.createGroup(account: "ada", name: "Weather")

        let feed = try store.createFeed(account: "ada", name: "humidity", group: "weather")

        #expect(feed.fullKey == "weather.humidity")
        #expect(try store.feed(account: "ada", identifier: "weather.humidity")?.id == feed.id)
        #expect(try store.feed(account: "ada", identifier: "humidity") == nil)
        #expect(try store.feeds(account: "ada").map(\.fullKey) == ["weather.humidity"])
    }

    @Test("the free plan ends at 10 feeds, 5 groups and 5 dashboards")
    func limits() throws {
        let store = try store(.free)
        for number in 1...10 { _ = try store.createFeed(account: "ada", name: "feed \(number)", group: nil) }
        for number in 1...5 { _ = try store.createGroup(account: "ada", name: "group \(number)") }
        for number in 1...5 {
            _ = try store.createDashboard(account: "ada", name: "board \(number)", key: nil, settings: [:])
        }

        #expect(throws: StoreError.self) { try store.createFeed(account: "ada", name: "feed 11", group: nil) }
        #expect(throws: StoreError.self) { try store.createGroup(account: "ada", name: "group 6") }
        #expect(throws: StoreError.self) {
            try store.createDashboard(account: "ada", name: "board 6", key: nil, settings: [:])
        }
        #expect(try store.feeds(account: "ada").count == 10)
        #expect(try store.groups(account: "ada").count == 6)
        #expect(try store.dashboards(account: "ada").count == 5)
    }

    @Test(
        "refuses a name with the service's sentence",
        arguments: [
            ("caf\u{e9}", ["Name may contain only letters, digits, underscores, spaces, or dashes"]),
            ("", ["Name can't be blank"]),
            ("taken", ["Name has already been taken", "Key has already been taken"]),
            ("Taken", ["Key has already been taken"]),
        ]
    )
    func refusedNames(name: String, sentences: [String]) throws {
        let store = try store()
        _ = try store.createFeed(account: "ada", name: "taken", group: nil)

        do {
            _ = try store.createFeed(account: "ada", name: name, group: nil)
            Issue.record("\(name) was taken")
        } catch {
            guard case .validation(let found) = error else { throw error }
            #expect(found == sentences)
        }
    }

    @Test("a back-dated point is stored in its place and does not become the last value")
    func backdated() throws {
        let store = try store()
        let feed = try store.createFeed(account: "ada", name: "load", group: nil)

        _ = try store.append(value: "2", location: nil, createdAt: later(2), to: feed)
        _ = try store.append(value: "1", location: nil, createdAt: later(1), to: feed)
        #expect(try store.last(feed)?.value == "2")
        #expect(try store.data(feed).map(\.value) == ["2", "1"])

        _ = try store.append(value: "0", location: nil, createdAt: later(0), to: feed, alwaysLast: true)
        #expect(try store.last(feed)?.value == "0")
        #expect(try store.data(feed).map(\.value) == ["2", "1", "0"])
    }

    @Test("without history only the last value stays")
    func withoutHistory() throws {
        let store = try store()
        var change = FeedChange(name: "load")
        change.history = false
        let feed = try store.createFeed(account: "ada", change, group: nil)

        for number in 1...3 {
            _ = try store.append(value: "\(number)", location: nil, createdAt: later(Double(number)), to: feed)
        }

        #expect(try store.data(feed).map(\.value) == ["3"])
        #expect(try store.feed(account: "ada", identifier: "load")?.lastValue == "3")
    }

    @Test("ids have 26 characters of Crockford's alphabet and differ")
    func ids() throws {
        let ids = Set((0..<1000).map { _ in DatumID.make(at: later(0)) })

        #expect(ids.count == 1000)
        #expect(ids.allSatisfy { $0.count == 26 && $0.allSatisfy("0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains) })
    }

    @Test("the queue goes on where it was, and previous does not move it")
    func queue() throws {
        let store = try store()
        let feed = try store.createFeed(account: "ada", name: "jobs", group: nil)
        for number in 1...3 {
            _ = try store.append(value: "\(number)", location: nil, createdAt: later(Double(number)), to: feed)
        }

        #expect(try store.walk(feed, .previous) == nil)
        #expect(try store.walk(feed, .next)?.value == "1")
        #expect(try store.walk(feed, .previous)?.value == "1")
        #expect(try store.walk(feed, .next)?.value == "2")
        #expect(try store.walk(feed, .last)?.value == "3")
        #expect(try store.walk(feed, .next) == nil)
        #expect(try store.walk(feed, .first)?.value == "1")
        #expect(try store.walk(feed, .next)?.value == "2")
    }

    @Test("the newest point that is left becomes the last value when the last one is deleted")
    func deletesTheLast() throws {
        let store = try store()
        let feed = try store.createFeed(account: "ada", name: "load", group: nil)
        _ = try store.append(value: "1", location: nil, createdAt: later(1), to: feed)
        let newest = try store.append(value: "2", location: nil, createdAt: later(2), to: feed)

        try store.delete(newest, of: feed)

        #expect(try store.last(feed)?.value == "1")
        #expect(try store.count(feed) == 1)
    }

    @Test("everything is there again after a restart with the same file")
    func restart() throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/simulator.sqlite"
        do {
            let store = try store(file: file)
            let feed = try store.createFeed(account: "ada", name: "recording", group: nil)
            let place = Location(latitude: 40.5, longitude: -3.25, elevation: 650)
            _ = try store.append(value: "ON", location: place, createdAt: later(0), to: feed)
            let board = try store.createDashboard(
                account: "ada",
                name: "Demo",
                key: nil,
                settings: ["color_mode": "dark"]
            )
            _ = try store.createBlock(
                account: "ada",
                board,
                visualType: "toggle_button",
                name: "Recording",
                settings: ["properties": ["onValue": "ON"]],
                feeds: [feed]
            )
        }

        let store = try store(file: file)

        let feed = try #require(try store.feed(account: "ada", identifier: "recording"))
        #expect(try store.last(feed)?.value == "ON")
        #expect(try store.last(feed)?.location == Location(latitude: 40.5, longitude: -3.25, elevation: 650))
        let board = try #require(try store.dashboard(account: "ada", identifier: "demo"))
        let blocks = try store.blocks(account: "ada", board)
        #expect(blocks.map(\.visualType) == ["toggle_button"])
        #expect(blocks.first?.wires.map(\.feed.key) == ["recording"])
        #expect(board.layouts["lg"].map(\.block) == blocks.map { String($0.id) })
    }

    @Test("a deleted feed takes its data and its place in blocks with it")
    func deletesAFeed() throws {
        let store = try store()
        let feed = try store.createFeed(account: "ada", name: "load", group: nil)
        _ = try store.append(value: "1", location: nil, createdAt: later(1), to: feed)
        let board = try store.createDashboard(account: "ada", name: "Demo", key: nil, settings: [:])
        _ = try store.createBlock(
            account: "ada",
            board,
            visualType: "gauge",
            name: nil,
            settings: [:],
            feeds: [feed]
        )

        try store.delete(feed)

        #expect(try store.feed(account: "ada", identifier: "load") == nil)
        #expect(try store.blocks(account: "ada", board).first?.wires.isEmpty == true)
        let again = try store.createFeed(account: "ada", name: "load", group: nil)
        #expect(again.id != feed.id)
        #expect(try store.data(again).isEmpty)
    }

    @Test("a deleted group takes along only the feeds that no other group holds")
    func deletesAGroup() throws {
        let store = try store()
        let one = try store.createGroup(account: "ada", name: "one")
        let two = try store.createGroup(account: "ada", name: "two")
        let shared = try store.createFeed(account: "ada", name: "shared", group: "one")
        _ = try store.createFeed(account: "ada", name: "own", group: "one")
        try store.add(shared, to: two)

        try store.delete(one)

        #expect(try store.feeds(account: "ada").map(\.fullKey) == ["two.shared"])
    }

    @Test("new blocks do not cover one another in any width of screen")
    func placesBlocks() throws {
        var layouts = DashboardLayouts([:])
        for number in 1...12 { layouts.add(block: "\(number)", width: number % 3 == 0 ? 16 : 4, height: 3) }

        for breakpoint in DashboardLayouts.breakpoints {
            let places = layouts[breakpoint]
            #expect(places.count == 12)
            for (index, place) in places.enumerated() {
                #expect(!places[(index + 1)...].contains(where: place.overlaps))
            }
        }
    }

    @Test("accounts do not see each other's feeds")
    func accounts() throws {
        let store = try store()
        try store.addAccount("grace", plan: .free)
        let feed = try store.createFeed(account: "ada", name: "load", group: nil)

        #expect(try store.feed(account: "grace", identifier: "load") == nil)
        #expect(try store.feed(account: "grace", id: feed.id) == nil)
        #expect(try store.feeds(account: "grace").isEmpty)
    }
}
