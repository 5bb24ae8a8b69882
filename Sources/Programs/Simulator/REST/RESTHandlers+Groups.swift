internal import AdafruitIO
internal import DataPoints
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    func groupJSON(_ group: StoredGroup) throws(RESTError) -> JSON {
        let feeds = try asREST { () throws(StoreError) in try store.feeds(account: account, group: group) }
        var list: [JSON] = []
        for feed in feeds { list.append(try feedJSON(feed)) }
        return replies.group(group, feeds: list)
    }

    func listGroups() throws(RESTError) -> HTTPResponse {
        var list: [JSON] = []
        for group in try asREST({ () throws(StoreError) in try store.groups(account: account) }) {
            list.append(try groupJSON(group))
        }
        return reply(.array(list))
    }

    func createGroup() throws(RESTError) -> HTTPResponse {
        let members = try call.record("group")
        let visibility = try Self.visibility(members)
        try spend()
        let group = try asREST { () throws(StoreError) in
            try store.createGroup(
                account: account,
                name: members.text("name"),
                key: members.text("key"),
                description: members.text("description"),
                visibility: visibility
            )
        }
        try note("create", "Group", ["key": .string(group.key), "name": .string(group.name)])
        return reply(try groupJSON(group), status: service.options.groupCreatedStatus)
    }

    func showGroup() throws(RESTError) -> HTTPResponse {
        reply(try groupJSON(try group(call["group"])))
    }

    func updateGroup() throws(RESTError) -> HTTPResponse {
        let group = try group(call["group"])
        let members = try call.record("group")
        let visibility = try Self.visibility(members)
        try spend()
        let changed = try asREST { () throws(StoreError) in
            try store.update(
                group,
                account: account,
                name: members.text("name"),
                key: members.text("key"),
                description: members.text("description"),
                visibility: visibility
            )
        }
        try note("update", "Group", ["key": .string(changed.key)])
        return reply(try groupJSON(changed))
    }

    func deleteGroup() throws(RESTError) -> HTTPResponse {
        let group = try group(call["group"])
        try spend()
        try asREST { () throws(StoreError) in try store.delete(group) }
        try note("destroy", "Group", ["key": .string(group.key)])
        return reply("OK")
    }

    func addToGroup() throws(RESTError) -> HTTPResponse {
        let (group, feed) = try groupAndFeed()
        try asREST { () throws(StoreError) in try store.add(feed, to: group) }
        return reply(try groupJSON(group))
    }

    func removeFromGroup() throws(RESTError) -> HTTPResponse {
        let (group, feed) = try groupAndFeed()
        try asREST { () throws(StoreError) in try store.remove(feed, from: group, account: account) }
        return reply(try groupJSON(group))
    }

    /// The group of the address and the feed of the parameter `feed_key`; a bare key may be one of the group.
    private func groupAndFeed() throws(RESTError) -> (StoredGroup, StoredFeed) {
        let group = try group(call["group"])
        let inBody = try call.record("feed").text("feed_key")
        guard let key = call.query("feed_key") ?? inBody else {
            throw RESTError(422, "request failed - feed_key is missing")
        }
        if let inGroup = try? feed("\(group.key).\(key)") { return (group, inGroup) }
        return (group, try feed(key))
    }

    /// Values for many feeds of a group at once. Feeds that are missing are made.
    func createGroupData() throws(RESTError) -> HTTPResponse {
        let group = try group(call["group"])
        let body = try call.record("group")
        let given = try groupValues(body, group)
        guard !given.isEmpty else { throw RESTError(422, "request failed - feeds is missing") }
        let time = try GivenDatum.time(body, context: "\(account)/groups/\(group.key)")
        if let time, time > call.now {
            throw RESTError(422, "data created_at may not be in the future")
        }
        try spend(given.count)
        var stored: [JSON] = []
        for (name, datum) in given {
            let feed = try member(name, of: group)
            stored.append(replies.datum(try publish(datum, to: feed, createdAt: time), of: feed))
        }
        return reply(.array(stored))
    }

    private func member(_ name: String, of group: StoredGroup) throws(RESTError) -> StoredFeed {
        // A full key of this group is taken as well as a short one.
        let short = name.hasPrefix(group.key + ".") ? String(name.dropFirst(group.key.count + 1)) : name
        return try asREST { () throws(StoreError) in
            if let feed = try store.feed(account: account, identifier: "\(group.key).\(short)") { return feed }
            return try store.createFeed(account: account, name: short, group: group.key)
        }
    }

    /// The values as an array of `{key, value}`, or as an object as over MQTT; one place for all, inside or beside.
    private func groupValues(
        _ body: JSONObject,
        _ group: StoredGroup
    ) throws(RESTError) -> [(key: String, datum: GivenDatum)] {
        let context = "\(account)/groups/\(group.key)"
        var place = body.given("location")?.object ?? [:]
        for name in ["lat", "lon", "ele"] where place[name] == nil { place[name] = body.given(name) }
        var values: [(String, GivenDatum)] = []
        switch body["feeds"] {
        case .array(let list)?:
            for item in list {
                guard let members = item.object, let key = members.text("key") else {
                    throw RESTError(422, "request failed - a feed of \(context) has no key")
                }
                values.append((key, try GivenDatum(place.merged(with: members), context: context)))
            }
        case .object(let members)?:
            for (key, value) in members {
                var datum = place
                datum["value"] = value
                values.append((key, try GivenDatum(datum, context: context)))
            }
        default: break
        }
        return values
    }
}
