import AdafruitIO
import AdafruitIOClient
import Control
import DataPoints
import Diagnostics
import FastJSON
import Samples
import Simulator
import TestKit
import Testing

@testable import Bridge

@Suite("dashboard create", .timeLimit(.minutes(1)))
struct DashboardTests {
    private static let rules = """
        [switch]
        on_words = ["go"]
        off_words = ["halt"]
        [[sampler]]
        kind = "host"
        [[rule]]
        stream = "host.load"
        field = "one_minute"
        feed = "load"
        every = "10 s"
        [[rule]]
        stream = "host.uptime"
        field = "seconds"
        feed = "machine.uptime"
        every = "1 min"
        [[rule]]
        feed = "all"
        every = "1 min"
        fields = ["host.load.one_minute", "host.load.five_minutes"]
        """

    private func client(_ io: SimulatedIO) throws -> AdafruitIOClient {
        try AdafruitIOClient(try io.configuration(), key: Secret("key"))
    }

    private func run(_ io: SimulatedIO, _ rules: String = DashboardTests.rules, name: String? = nil, dry: Bool = false)
        async throws -> String
    {
        let output = Talk()
        try await DashboardCommand(name: name, dryRun: dry).run(try io.context(rules, output))
        return output.text
    }

    private func failure(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("makes private feeds and the blocks, with the switch's own words in the toggle")
    func creates() async throws {
        let io = try SimulatedIO()

        let said = try await run(io)

        #expect(said.contains("dashboard: http://127.0.0.1:\(io.simulator.httpPort)/ada/dashboards/greenhouse"))
        let client = try client(io)
        let feeds = try await client.feeds().value
        #expect(Set(feeds.map(\.key)) == ["recording", "recording-status", "load", "machine.uptime", "all"])
        #expect(feeds.allSatisfy { $0.visibility == .private })
        let blocks = try await client.blocks(of: "greenhouse").value
        #expect(blocks.map(\.visualType) == ["toggle_button", "text", "line_chart", "line_chart", "stream"])
        #expect(blocks.map(\.feedKeys) == [["recording"], ["recording-status"], ["load"], ["machine.uptime"], ["all"]])
        let toggle = try #require(blocks.first).properties
        #expect(toggle["onText"]?.string == "go")
        #expect(toggle["onValue"]?.string == "go")
        #expect(toggle["offText"]?.string == "halt")
        #expect(toggle["offValue"]?.string == "halt")
    }

    @Test("a second time changes nothing")
    func idempotent() async throws {
        let io = try SimulatedIO()
        _ = try await run(io)
        let client = try client(io)
        let before = try await client.dashboard("greenhouse").value
        let points = io.simulator.service.counters["ada"]

        let said = try await run(io)

        #expect(!said.contains("created"))
        #expect(try await client.dashboard("greenhouse").value == before)
        #expect(try await client.dashboards().value.count == 1)
        #expect(try await client.feeds().value.count == 5)
        #expect(io.simulator.service.counters["ada"]?.points == points?.points)
    }

    @Test("a dry run says what it would create, and creates nothing")
    func dryRun() async throws {
        let io = try SimulatedIO()

        let said = try await run(io, dry: true)

        #expect(said.contains("would create feed load (private)"))
        #expect(said.contains("would create dashboard greenhouse"))
        #expect(said.contains("would create toggle_button of recording"))
        let client = try client(io)
        #expect(try await client.feeds().value.isEmpty)
        #expect(try await client.dashboards().value.isEmpty)
        #expect(try await client.groups().value.count <= 1)
    }

    @Test("a new rule gets its block below what is there, and what was deleted comes back; nothing moves or overlaps")
    func grows() async throws {
        let io = try SimulatedIO()
        _ = try await run(io)
        let client = try client(io)
        let before = try await client.dashboard("greenhouse").value

        let rule = "\n[[rule]]\nstream = \"host.load\"\nfield = \"five_minutes\"\nfeed = \"five\"\nevery = \"1 min\"\n"
        let said = try await run(io, Self.rules + rule)

        #expect(
            said.split(separator: "\n").dropLast() == ["created feed five (private)", "created line_chart of five"]
        )
        let after = try await client.dashboard("greenhouse").value
        #expect(after.blocks.count == before.blocks.count + 1)
        let layouts = try #require(after.layouts).places
        for (width, columns) in DashboardPlan.columns {
            let places = try #require(layouts[width])
            #expect(places.count == 6)
            for place in before.layouts?.places[width] ?? [] { #expect(places.contains(place)) }
            for place in places {
                #expect(place.x >= 0 && place.y >= 0 && place.width >= 2 && place.height >= 2)
                #expect(place.x + place.width <= columns)
            }
            for (index, one) in places.enumerated() {
                for other in places[(index + 1)...] {
                    let isApart =
                        one.x + one.width <= other.x || other.x + other.width <= one.x
                        || one.y + one.height <= other.y || other.y + other.height <= one.y
                    #expect(isApart, "\(width): \(one) and \(other)")
                }
            }
        }
    }

    @Test("a plan with too few feeds is told before anything is created")
    func tooManyFeeds() async throws {
        let io = try SimulatedIO(.free)
        let rules = (0..<9).map {
            "[[rule]]\nstream = \"host.load\"\nfield = \"one_minute\"\nfeed = \"f\($0)\"\nevery = \"1 min\"\n"
        }.joined()

        let error = await failure { _ = try await run(io, "[[sampler]]\nkind = \"host\"\n" + rules) }

        #expect(error?.contains("0 of the plan's 10 feeds and 11 more are needed") == true, "\(error ?? "")")
        #expect(try await client(io).feeds().value.isEmpty)
        #expect(try await client(io).dashboards().value.isEmpty)
    }

    @Test("a plan with too few dashboards or groups is told before anything is created")
    func tooManyOthers() async throws {
        let io = try SimulatedIO(.free)
        let client = try client(io)
        for number in 0..<5 {
            _ = try await client.createDashboard(AdafruitIODashboardSettings(name: "d\(number)", visibility: .private))
        }

        let dashboards = await failure { _ = try await run(io, "") }
        #expect(dashboards?.contains("5 of the plan's 5 dashboards") == true, "\(dashboards ?? "")")
        #expect(try await client.feeds().value.isEmpty)

        for number in 0..<5 where try await client.groups().value.count < 5 {
            _ = try await client.createGroup("g\(number)")
        }
        let rule = "[[rule]]\nstream = \"host.load\"\nfield = \"one_minute\"\nfeed = \"new.load\"\nevery = \"1 min\"\n"
        let groups = await failure { _ = try await run(io, "[[sampler]]\nkind = \"host\"\n" + rule, name: "d0") }
        #expect(groups?.contains("5 of the plan's 5 groups and 1 more are needed: new") == true, "\(groups ?? "")")
        #expect(try await client.feeds().value.isEmpty)
        // The dashboard that is there needs no room.
        #expect(try await run(io, "", name: "d0").contains("/dashboards/d0"))
    }

    @Test("a located rule has a map, a text a text block, and a number a chart with its unit")
    func kinds() throws {
        let place = Samples.Stream(
            Name(mapping: "place"),
            fields: [
                Field(Name(mapping: "speed"), unit: .metresPerSecond), Field(Name(mapping: "town"), kind: .text),
            ]
        )
        let text = """
            [account]
            username = "ada"
            [[rule]]
            stream = "place"
            field = "speed"
            feed = "speed"
            every = "10 s"
            location = "location"
            [[rule]]
            stream = "place"
            field = "town"
            feed = "town"
            every = "10 s"
            """
        let plan = DashboardPlan(
            try Configuration(parsing: text, file: "f"),
            words: SwitchWords(),
            streams: [place]
        )

        #expect(plan.blocks.map(\.visualType) == ["toggle_button", "text", "map", "line_chart", "text"])
        #expect(plan.blocks[3].properties["yAxisLabel"]?.string == "m/s")
        #expect(plan.blocks[0].properties["onValue"]?.string == "ON")
    }
}
