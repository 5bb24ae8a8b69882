internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

/// What the pages are told, as JSON.
enum DashboardState {
    /// The most points of one feed that a page is given at first.
    private static let mostPoints = 3000
    /// How many points a page is given of a feed that no chart or map shows.
    private static let fewPoints = 60

    /// All accounts with their dashboards and feeds.
    static func overview(_ service: SimulatedService) throws(StoreError) -> JSON {
        var accounts: [JSON] = []
        for account in service.accounts {
            var dashboards: [JSON] = []
            for dashboard in try service.store.dashboards(account: account) {
                dashboards.append([
                    "key": .string(dashboard.key), "name": .string(dashboard.name),
                    "description": dashboard.settings["description"] ?? "",
                    "blocks": JSON(try service.store.blocks(account: account, dashboard).count),
                ])
            }
            var feeds: [JSON] = []
            for feed in try service.store.feeds(account: account) {
                feeds.append(["key": .string(feed.fullKey), "last": try service.store.last(feed).map(point) ?? nil])
            }
            accounts.append([
                "name": .string(account), "limit": JSON(service.plan(of: account).pointsPerMinute),
                "dashboards": .array(dashboards), "feeds": .array(feeds),
            ])
        }
        return ["accounts": .array(accounts)]
    }

    /// One dashboard: its blocks where they belong, and its feeds with their newest points; nil when it is not there.
    static func state(
        _ service: SimulatedService,
        account: String,
        key: String,
        secret: Secret
    ) throws(StoreError) -> JSON? {
        guard service.accounts.contains(account),
            let dashboard = try service.store.dashboard(account: account, identifier: key)
        else { return nil }
        let blocks = try service.store.blocks(account: account, dashboard)
        let places = places(of: blocks, in: dashboard.layouts)
        var hours: [Int64: Double] = [:]
        var feeds: [StoredFeed] = []
        for block in blocks {
            for wire in block.wires {
                if hours[wire.feed.id] == nil { feeds.append(wire.feed) }
                hours[wire.feed.id] = max(hours[wire.feed.id] ?? 0, shownHours(block))
            }
        }
        var feedList: [JSON] = []
        for feed in feeds { feedList.append(try json(feed, hours: hours[feed.id] ?? 0, service)) }
        let blockList = blocks.compactMap { block in places[String(block.id)].map { (block, $0) } }
            .sorted { ($0.1.y, $0.1.x) < ($1.1.y, $1.1.x) }
            .map { json($0.0, at: $0.1) }
        return [
            "account": .string(account),
            "secret": .string(secret.reveal()),
            "columns": JSON(max(places.values.map { $0.x + $0.width }.max() ?? 0, DashboardLayouts.columns)),
            "dashboard": [
                "key": .string(dashboard.key), "name": .string(dashboard.name),
                "description": dashboard.settings["description"] ?? "",
            ],
            "blocks": .array(blockList),
            "feeds": .array(feedList),
        ]
    }

    /// What happened on the account, as an event for the page of one dashboard.
    static func event(_ event: ServiceEvent, key: String) -> ServerSentEvent? {
        switch event {
        case .point(let feed, let datum, let isLast):
            let data: JSON = ["feed": JSON(Int(feed.id)), "last": .bool(isLast), "point": point(datum)]
            return ServerSentEvent(data: data.serialized(), event: "point")
        case .dashboardChanged(let changed):
            return changed == key ? ServerSentEvent(data: "{}", event: "dashboard") : nil
        case .notice(let kind, let text, let time):
            let data: JSON = [
                "kind": .string(kind), "text": .string(text), "time": JSON(Int(time.nanoseconds / 1_000_000)),
            ]
            return ServerSentEvent(data: data.serialized(), event: "notice")
        }
    }

    private static func point(_ datum: StoredDatum) -> JSON {
        var members: JSONObject = [
            "id": .string(datum.id), "time": JSON(Int(datum.createdAt.nanoseconds / 1_000_000)),
            "value": .string(datum.value),
        ]
        if let location = datum.location {
            members["lat"] = JSON(location.latitude)
            members["lon"] = JSON(location.longitude)
            if let elevation = location.elevation { members["ele"] = JSON(elevation) }
        }
        return .object(members)
    }

    private static func json(_ feed: StoredFeed, hours: Double, _ service: SimulatedService) throws(StoreError) -> JSON
    {
        var query = DataQuery()
        query.limit = fewPoints
        if hours > 0 {
            query.limit = mostPoints
            query.start = service.time.wall() - .seconds(hours * 3600)
        }
        let points = try service.store.data(feed, query)
        return [
            "id": JSON(Int(feed.id)), "key": .string(feed.fullKey), "name": .string(feed.name),
            "last": try service.store.last(feed).map(point) ?? nil,
            "points": .array(points.reversed().map(point)),
        ]
    }

    private static func json(_ block: StoredBlock, at place: DashboardLayouts.Place) -> JSON {
        [
            "id": .string(String(block.id)), "name": .string(block.name ?? ""),
            "visual_type": .string(block.visualType),
            "properties": block.settings["properties"] ?? .object([:]),
            "feeds": .array(block.wires.map { JSON(Int($0.feed.id)) }),
            "x": JSON(place.x), "y": JSON(place.y), "w": JSON(place.width), "h": JSON(place.height),
        ]
    }

    /// The hours of history that a block shows; a live one (`"0"`) starts with the last hour, a map with the last day.
    private static func shownHours(_ block: StoredBlock) -> Double {
        guard ["line_chart", "map"].contains(block.visualType) else { return 0 }
        let hours = block.settings["properties"]?.object?.number("historyHours") ?? 0
        return hours > 0 ? min(hours, 24 * 30) : block.visualType == "map" ? 24 : 1
    }

    /// A place for each block on the wide grid; one that is missing there, or lies on another, gets a free one.
    private static func places(
        of blocks: [StoredBlock],
        in layouts: DashboardLayouts
    ) -> [String: DashboardLayouts.Place] {
        var grid = DashboardLayouts(.object([:]))
        let wide = layouts["lg"].isEmpty ? layouts["xl"] : layouts["lg"]
        let ids = Set(blocks.map { String($0.id) })
        for place in wide.filter({ ids.contains($0.block) }).sorted(by: { ($0.y, $0.x) < ($1.y, $1.x) }) {
            if grid["lg"].contains(where: place.overlaps) {
                grid.add(block: place.block, width: place.width, height: place.height)
            } else {
                grid["lg"].append(place)
            }
        }
        let placed = Set(grid["lg"].map(\.block))
        for block in blocks where !placed.contains(String(block.id)) {
            grid.add(
                block: String(block.id),
                width: block.settings["size_x"]?.int ?? 4,
                height: block.settings["size_y"]?.int ?? 4
            )
        }
        return Dictionary(grid["lg"].map { ($0.block, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
