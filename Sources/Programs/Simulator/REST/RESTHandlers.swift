internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

/// Answers one request of the REST interface. Lives on the service's executor for the length of that request.
struct RESTHandlers: Sendable {
    let service: SimulatedService
    let call: RESTCall
    let replies: Replies

    var store: SimulatorStore { service.store }
    var account: String { call.account }

    func reply(_ json: JSON, status: Int = 200) -> HTTPResponse {
        .json(json.serialized(), status: status)
    }

    /// The feed that the address names: by key, or by number.
    func feed(_ identifier: String) throws(RESTError) -> StoredFeed {
        if let number = Int64(identifier),
            let feed = try asREST({ () throws(StoreError) in
                try store.feed(account: account, id: number)
            })
        {
            return feed
        }
        // Names with spaces and underscores are no addresses, though MQTT takes them.
        guard FeedKey(identifier.lowercased()) != nil else { throw .invalidAddress }
        let found = try asREST { () throws(StoreError) in
            try store.feed(account: account, identifier: identifier.lowercased())
        }
        guard let found else { throw .notFound }
        return found
    }

    /// The feed that `:key` names, within `:group` where the address has one.
    func feed() throws(RESTError) -> StoredFeed {
        guard let group = call.parameters["group"] else { return try feed(call["key"]) }
        return try feed("\(try self.group(group).key).\(call["key"])")
    }

    /// The group that the address names.
    func group(_ identifier: String) throws(RESTError) -> StoredGroup {
        let found = try asREST { () throws(StoreError) in
            try store.group(account: account, identifier: identifier)
        }
        guard let found else { throw .notFound }
        return found
    }

    func feedJSON(_ feed: StoredFeed) throws(RESTError) -> JSON {
        try asREST { () throws(StoreError) in
            replies.feed(
                feed,
                groups: try store.groups(of: feed),
                hooks: try store.records(account: account, .token).filter { $0.body["feed_id"]?.int64 == feed.id }
            )
        }
    }

    /// Takes `points` out of the account's minute, or answers 429.
    func spend(_ points: Int = 1) throws(RESTError) {
        guard let wait = service.spend(points: points, account: account) else { return }
        throw service.options.throttled(seconds: wait)
    }

    /// Stores a value that was paid for, and sends it to everybody who listens.
    func publish(_ datum: GivenDatum, to feed: StoredFeed, createdAt: Timestamp? = nil) throws(RESTError)
        -> StoredDatum
    {
        let time = datum.createdAt ?? createdAt
        try checkTime(time, context: "\(account)/feeds/\(feed.fullKey)")
        let most = feed.history ? PointLimits.valueBytes : PointLimits.valueBytesWithoutHistory
        guard datum.value.utf8.count <= most else {
            throw RESTError(
                422,
                "request failed - Record invalid. Failed to save data to \(account)/feeds/\(feed.fullKey). "
                    + "value is too long (maximum is \(most) bytes)"
            )
        }
        return try asREST { () throws(StoreError) in
            try service.store(datum.value, location: datum.location, createdAt: time, in: feed, account: account)
        }
    }

    func checkTime(_ time: Timestamp?, context: String) throws(RESTError) {
        guard let time, time > call.now else { return }
        let sentence = "data created_at may not be in the future"
        throw RESTError(422, "request failed - Record invalid. Failed to save data to \(context). \(sentence)")
    }

    func note(_ action: String, _ model: String, _ data: JSON) throws(RESTError) {
        try asREST { () throws(StoreError) in
            try store.note(account: account, action: action, model: model, data: data)
        }
    }
}
