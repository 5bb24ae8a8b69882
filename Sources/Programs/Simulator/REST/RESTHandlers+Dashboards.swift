internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    private static let dashboardMembers = [
        "description", "visibility", "show_header", "color_mode", "block_borders", "allow_overlap", "header_image_url",
    ]
    private static let blockMembers = [
        "description", "properties", "column", "row", "size_x", "size_y", "source", "source_key",
    ]

    func dashboard() throws(RESTError) -> StoredDashboard {
        let found = try asREST { () throws(StoreError) in
            try store.dashboard(account: account, identifier: call["dashboard"].lowercased())
        }
        guard let found else { throw .notFound }
        return found
    }

    private func json(_ dashboard: StoredDashboard, withLayouts: Bool) throws(RESTError) -> JSON {
        let blocks = try asREST { () throws(StoreError) in try store.blocks(account: account, dashboard) }
        return replies.dashboard(dashboard, blocks: blocks, withLayouts: withLayouts)
    }

    func listDashboards() throws(RESTError) -> HTTPResponse {
        var list: [JSON] = []
        for dashboard in try asREST({ () throws(StoreError) in try store.dashboards(account: account) }) {
            list.append(try json(dashboard, withLayouts: false))
        }
        return reply(.array(list))
    }

    func createDashboard() throws(RESTError) -> HTTPResponse {
        let members = try call.record("dashboard")
        let settings = try Self.settings(members, Self.dashboardMembers)
        let dashboard = try asREST { () throws(StoreError) in
            try store.createDashboard(
                account: account,
                name: members.text("name"),
                key: members.text("key"),
                settings: settings
            )
        }
        try note("create", "Dashboard", ["key": .string(dashboard.key), "name": .string(dashboard.name)])
        return reply(try json(dashboard, withLayouts: false), status: service.options.dashboardCreatedStatus)
    }

    func showDashboard() throws(RESTError) -> HTTPResponse {
        reply(try json(try dashboard(), withLayouts: true))
    }

    func updateDashboard() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        let members = try call.record("dashboard")
        let settings = try Self.settings(members, Self.dashboardMembers)
        let changed = try asREST { () throws(StoreError) in
            try store.update(
                dashboard,
                account: account,
                name: members.text("name"),
                key: members.text("key"),
                settings: settings
            )
        }
        service.dashboardChanged(changed.key, account: account)
        return reply(try json(changed, withLayouts: true))
    }

    func deleteDashboard() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        try asREST { () throws(StoreError) in try store.delete(dashboard) }
        try note("destroy", "Dashboard", ["key": .string(dashboard.key)])
        service.dashboardChanged(dashboard.key, account: account)
        return reply("OK")
    }

    func updateLayouts() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        guard let layouts = try call.body()["layouts"] else {
            throw RESTError(422, "request failed - layouts is missing")
        }
        let changed = try asREST { () throws(StoreError) in try store.setLayouts(layouts, of: dashboard) }
        service.dashboardChanged(dashboard.key, account: account)
        return reply(changed.json)
    }

    func listBlocks() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        let blocks = try asREST { () throws(StoreError) in try store.blocks(account: account, dashboard) }
        return reply(.array(blocks.map(replies.block)))
    }

    private func block(of dashboard: StoredDashboard) throws(RESTError) -> StoredBlock {
        guard let id = Int64(call["id"]) else { throw .notFound }
        let found = try asREST { () throws(StoreError) in try store.block(account: account, dashboard, id: id) }
        guard let found else { throw .notFound }
        return found
    }

    func createBlock() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        let members = try call.record("block")
        guard let kind = members.text("visual_type"), !kind.isEmpty else {
            throw RESTError(complaints: ["Visual type can't be blank"])
        }
        let settings = try Self.settings(members, Self.blockMembers)
        let feeds = try blockFeeds(members) ?? []
        let block = try asREST { () throws(StoreError) in
            try store.createBlock(
                account: account,
                dashboard,
                visualType: kind,
                name: members.text("name"),
                settings: settings,
                feeds: feeds
            )
        }
        try note("create", "Block", ["id": JSON(Int(block.id)), "dashboard": .string(dashboard.key)])
        service.dashboardChanged(dashboard.key, account: account)
        return reply(replies.block(block))
    }

    func showBlock() throws(RESTError) -> HTTPResponse {
        reply(replies.block(try block(of: try dashboard())))
    }

    func updateBlock() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        let block = try block(of: dashboard)
        let members = try call.record("block")
        let settings = try Self.settings(members, Self.blockMembers)
        let feeds = try blockFeeds(members)
        let changed = try asREST { () throws(StoreError) in
            try store.update(
                block,
                account: account,
                visualType: members.text("visual_type"),
                name: members.text("name"),
                settings: settings,
                feeds: feeds
            )
        }
        service.dashboardChanged(dashboard.key, account: account)
        return reply(replies.block(changed))
    }

    func deleteBlock() throws(RESTError) -> HTTPResponse {
        let dashboard = try dashboard()
        let block = try block(of: dashboard)
        try asREST { () throws(StoreError) in try store.delete(block, of: dashboard) }
        service.dashboardChanged(dashboard.key, account: account)
        return reply("OK")
    }

    /// The feeds that a block is to be connected to; nil when the request does not speak of them.
    private func blockFeeds(_ members: JSONObject) throws(RESTError) -> [StoredFeed]? {
        guard let list = members.given("block_feeds")?.array else { return nil }
        var feeds: [StoredFeed] = []
        for item in list {
            guard let wanted = item.object?.text("feed_id") ?? item["feed"]?.object?.text("id") else {
                throw RESTError(422, "request failed - an item of block_feeds has no feed_id")
            }
            guard let found = try? feed(wanted) else {
                throw RESTError(422, "request failed - there is no feed \(wanted)")
            }
            guard let number = item.object?.text("group_id"), let group = try? group(number) else {
                feeds.append(found)
                continue
            }
            let members = try asREST { () throws(StoreError) in try store.feeds(account: account, group: group) }
            feeds.append(members.first { $0.id == found.id } ?? found)
        }
        return feeds
    }

    /// The members of `names` that the request gives.
    private static func settings(_ members: JSONObject, _ names: [String]) throws(RESTError) -> JSONObject {
        _ = try visibility(members)
        var settings = JSONObject()
        for name in names { settings[name] = members.given(name) }
        return settings
    }
}
