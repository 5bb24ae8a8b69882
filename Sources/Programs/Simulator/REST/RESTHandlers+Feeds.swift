internal import AdafruitIO
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    func listFeeds() throws(RESTError) -> HTTPResponse {
        let feeds: [StoredFeed]
        if let key = call.query("group_key") ?? call.parameters["group"] {
            let group = try group(key)
            feeds = try asREST { () throws(StoreError) in try store.feeds(account: account, group: group) }
        } else {
            feeds = try asREST { () throws(StoreError) in try store.feeds(account: account) }
        }
        var list: [JSON] = []
        for feed in feeds { list.append(try feedJSON(feed)) }
        return reply(.array(list))
    }

    func createFeed() throws(RESTError) -> HTTPResponse {
        let members = try call.record("feed")
        var key = call.parameters["group"] ?? call.query("group_key") ?? members.text("group_key")
        if let named = key { key = try group(named).key }
        let change = try FeedChange(members)
        try spend()
        let feed = try asREST { () throws(StoreError) in
            try store.createFeed(account: account, change, group: key)
        }
        let json = try feedJSON(feed)
        try note("create", "Feed", ["key": .string(feed.fullKey), "name": .string(feed.name)])
        return reply(json, status: service.options.feedCreatedStatus)
    }

    func showFeed() throws(RESTError) -> HTTPResponse {
        reply(try feedJSON(try feed()))
    }

    func showFeedDetails() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let (first, last, count) = try asREST { () throws(StoreError) in
            (try store.first(feed), try store.last(feed), try store.count(feed))
        }
        var members = try feedJSON(feed).object ?? [:]
        members["details"] = [
            "shared_with": [],
            "data": [
                "first": first.map { replies.datum($0, of: feed) } ?? nil,
                "last": last.map { replies.datum($0, of: feed) } ?? nil,
                "count": JSON(count),
            ],
        ]
        return reply(.object(members))
    }

    func updateFeed() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let change = try FeedChange(try call.record("feed"))
        try spend()
        let changed = try asREST { () throws(StoreError) in try store.update(feed, account: account, change) }
        try note("update", "Feed", ["key": .string(changed.fullKey)])
        return reply(try feedJSON(changed))
    }

    func deleteFeed() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        try spend()
        try asREST { () throws(StoreError) in try store.delete(feed) }
        try note("destroy", "Feed", ["key": .string(feed.fullKey)])
        return reply("OK")
    }
}

extension FeedChange {
    /// Reads the members that a request may set.
    init(_ members: JSONObject) throws(RESTError) {
        self.init(name: members.text("name"))
        key = members.text("key")
        description = members.text("description")
        license = members.text("license")
        history = members.flag("history")
        unitType = members.text("unit_type")
        unitSymbol = members.text("unit_symbol")
        statusNotify = members.flag("status_notify")
        statusTimeout = members.number("status_timeout").flatMap { Int(exactly: $0) }
        visibility = try RESTHandlers.visibility(members)
    }
}

extension RESTHandlers {
    /// `private` or `public`, in any case of letters.
    static func visibility(_ members: JSONObject) throws(RESTError) -> String? {
        guard let text = members.text("visibility")?.lowercased() else { return nil }
        guard ["private", "public"].contains(text) else {
            throw RESTError(complaints: ["Visibility is not included in the list"])
        }
        return text
    }
}
