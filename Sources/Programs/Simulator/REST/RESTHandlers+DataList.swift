internal import Diagnostics
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    /// A page of a feed's points, newest first.
    func listData() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        var query = DataQuery()
        query.start = try call.time("start_time")
        query.end = try call.time("end_time")
        query.limit = call.limit()
        if let token = call.query("before") {
            guard let place = PageToken(token), place.feed == feed.id else {
                throw RESTError(400, "request failed - before is not a token of this feed")
            }
            query.before = (place.createdAt, place.sequence)
        }
        let wanted = query
        let (page, total) = try asREST { () throws(StoreError) in
            (try store.data(feed, wanted), try store.count(feed))
        }

        var response = reply(.array(page.map { included(replies.datum($0, of: feed)) }))
        response.headers["X-Pagination-Limit"] = String(query.limit)
        response.headers["X-Pagination-Count"] = String(page.count)
        response.headers["X-Pagination-Total"] = String(total)
        // Blank when it was not asked for; the server's library sends no field that is empty, so it is a space.
        response.headers["X-Pagination-Start"] = query.start.map(Self.pageTime) ?? " "
        response.headers["X-Pagination-End"] = Self.pageTime(query.end ?? page.first?.createdAt ?? call.now)
        response.headers["Link"] = link(feed: feed, query: query, last: page.count == query.limit ? page.last : nil)
        return response
    }

    /// Leaves out the members that `include` does not name.
    private func included(_ datum: JSON) -> JSON {
        guard let include = call.query("include"), let members = datum.object else { return datum }
        let names = Set(include.split(separator: ",").map { $0.filter { $0 != " " } })
        return .object(JSONObject(members.filter { names.contains($0.key) }.map { ($0.key, $0.value) }))
    }

    private static func pageTime(_ time: Timestamp) -> String {
        time.iso8601(fractionDigits: 3).dropLast() + "+0000"
    }

    /// The service writes this header against the rules of RFC 8288, and its clients rely on that.
    private func link(feed: StoredFeed, query: DataQuery, last: StoredDatum?) -> String {
        let host = call.request.headers["Host"] ?? "localhost"
        let page = "http://\(host)\(call.request.path)?limit=\(query.limit)"
        let this = "<\(page)>;rel=\"next\""
        guard let last else { return this }
        let token = PageToken(createdAt: last.createdAt.nanoseconds, sequence: last.sequence, feed: feed.id)
        var next = page + "&before=\(token.text)"
        if let start = query.start { next += "&start_time=\(start)" }
        if let end = query.end { next += "&end_time=\(end)" }
        return "\(this), <\(next)>"
    }
}

/// Where a page ended: opaque to clients.
struct PageToken: Sendable, Equatable {
    let createdAt: Int64
    let sequence: Int64
    let feed: Int64

    init(createdAt: Int64, sequence: Int64, feed: Int64) {
        self.createdAt = createdAt
        self.sequence = sequence
        self.feed = feed
    }

    init?(_ text: String) {
        let numbers = text.split(separator: "-").map { Int64($0, radix: 36) }
        guard numbers.count == 3, let createdAt = numbers[0], let sequence = numbers[1], let feed = numbers[2] else {
            return nil
        }
        self.init(createdAt: createdAt, sequence: sequence, feed: feed)
    }

    var text: String { [createdAt, sequence, feed].map { String($0, radix: 36) }.joined(separator: "-") }
}
