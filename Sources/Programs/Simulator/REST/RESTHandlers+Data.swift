internal import AdafruitIO
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    func createData() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let datum = try GivenDatum(try call.record("datum", "data"), context: "\(account)/feeds/\(feed.fullKey)")
        try checkTime(datum.createdAt, context: "\(account)/feeds/\(feed.fullKey)")
        try spend()
        let stored = try publish(datum, to: feed)
        return reply(replies.datum(stored, of: feed))
    }

    func createBatch() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let body = try call.body()
        guard let list = body.array ?? body["data"]?.array, !list.isEmpty else {
            throw RESTError(422, "request failed - data is missing")
        }
        let context = "\(account)/feeds/\(feed.fullKey)"
        var given: [GivenDatum] = []
        for item in list {
            let datum = try GivenDatum(item.object ?? [:], context: context)
            try checkTime(datum.createdAt, context: context)
            given.append(datum)
        }
        try spend(given.count)
        var stored: [JSON] = []
        for datum in given { stored.append(replies.datum(try publish(datum, to: feed), of: feed)) }
        return reply(.array(stored))
    }

    func nextDatum() throws(RESTError) -> HTTPResponse { try walk(.next) }
    func previousDatum() throws(RESTError) -> HTTPResponse { try walk(.previous) }
    func firstDatum() throws(RESTError) -> HTTPResponse { try walk(.first) }

    func lastDatum() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        _ = try asREST { () throws(StoreError) in try store.walk(feed, .last) }
        let last = try asREST { () throws(StoreError) in try store.last(feed) }
        return reply(replies.datum(try found(last, in: feed), of: feed))
    }

    private func walk(_ step: QueueStep) throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let datum = try asREST { () throws(StoreError) in try store.walk(feed, step) }
        return reply(replies.datum(try found(datum, in: feed), of: feed))
    }

    private func found(_ datum: StoredDatum?, in feed: StoredFeed) throws(RESTError) -> StoredDatum {
        guard let datum else {
            throw RESTError(404, "not found - there is no such data in \(account)/feeds/\(feed.fullKey)")
        }
        return datum
    }

    /// The last value as CSV, for devices that cannot read JSON.
    func retainedDatum() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let last = try asREST { () throws(StoreError) in try store.last(feed) }
        let line = last.map { FeedPayload(value: $0.value, location: $0.location).text(form: .csv) } ?? ",,,"
        return .bytes(Array((line + "\n").utf8), type: "text/csv; charset=utf-8")
    }

    private func datum(of feed: StoredFeed) throws(RESTError) -> StoredDatum {
        let datum = try asREST { () throws(StoreError) in try store.datum(feed, id: call["id"]) }
        return try found(datum, in: feed)
    }

    func showDatum() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        return reply(replies.datum(try datum(of: feed), of: feed))
    }

    func updateDatum() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        var datum = try datum(of: feed)
        let given = try GivenDatum(try call.record("datum", "data"), context: "\(account)/feeds/\(feed.fullKey)")
        try spend()
        datum.value = given.value
        datum.location = given.location ?? datum.location
        let changed = datum
        try asREST { () throws(StoreError) in try store.update(changed) }
        return reply(replies.datum(changed, of: feed))
    }

    func deleteDatum() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let datum = try datum(of: feed)
        try spend()
        try asREST { () throws(StoreError) in try store.delete(datum, of: feed) }
        return reply("OK")
    }
}
