public import AdafruitIO
public import DataPoints
public import Diagnostics
internal import FastJSON
internal import HTTPClient

// Data points. Each that is created or deleted counts against the account's rate.
extension AdafruitIOClient {
    /// Creates a data point; without a time it gets the service's.
    public func createPoint(
        _ value: String,
        in feed: FeedKey,
        createdAt: Timestamp? = nil,
        location: Location? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<StoredPoint> {
        let body = JSONObject.point(value: value, createdAt: createdAt, location: location)
        return try await ask("POST", ["feeds", feed.text, "data"], body: .object(body)) { StoredPoint($0) }
    }

    /// Creates a data point with its own time.
    public func create(_ point: DataPoint) async throws(AdafruitIOClientError) -> AdafruitIOReply<StoredPoint> {
        try await createPoint(point.value, in: point.feed, createdAt: point.createdAt, location: point.location)
    }

    /// Creates many data points of one feed in one request, each with its own time.
    ///
    /// Every point must be of `feed`. The service gives its points in no promised order.
    public func create(
        _ points: [DataPoint],
        in feed: FeedKey
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<[StoredPoint]> {
        precondition(points.allSatisfy { $0.feed == feed }, "a batch holds points of one feed only")
        let list = points.map { point in
            JSON.object(.point(value: point.value, createdAt: point.createdAt, location: point.location))
        }
        return try await ask("POST", ["feeds", feed.text, "data", "batch"], body: ["data": .array(list)]) {
            $0.list { StoredPoint($0) }
        }
    }

    /// Creates a data point in several feeds of a group at once; each counts.
    @discardableResult
    public func create(
        _ values: [(feed: String, value: String)],
        inGroup group: String,
        createdAt: Timestamp? = nil,
        location: Location? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        let feeds = values.map { JSON.object(["key": .string($0.feed), "value": .string($0.value)]) }
        var body: JSONObject = ["feeds": .array(feeds)]
        body.set("created_at", createdAt?.forService)
        if let location {
            var place = JSONObject()
            place.add(location)
            body["location"] = .object(place)
        }
        return try await tell("POST", ["groups", group, "data"], body: .object(body))
    }

    /// The last data point of a feed; a refusal `notFound` says that the feed is empty, or that there is none.
    public func lastPoint(in feed: FeedKey) async throws(AdafruitIOClientError) -> AdafruitIOReply<StoredPoint> {
        try await ask("GET", ["feeds", feed.text, "data", "last"]) { StoredPoint($0) }
    }

    /// One data point.
    public func point(
        _ id: String,
        in feed: FeedKey
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<StoredPoint> {
        try await ask("GET", ["feeds", feed.text, "data", id]) { StoredPoint($0) }
    }

    /// The last value and place of a feed in the form that MQTT has.
    public func retained(in feed: FeedKey) async throws(AdafruitIOClientError) -> AdafruitIOReply<FeedPayload> {
        let path = ["feeds", feed.text, "data", "retain"]
        let response = try await send("GET", path)
        var line = response.body
        while line.last == UInt8(ascii: "\n") || line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let payload = FeedPayload(line, form: .csv) else {
            throw .notUnderstood(request: title("GET", path), detail: "it is no text")
        }
        return AdafruitIOReply(payload, date: response.date)
    }

    /// Removes a data point.
    @discardableResult
    public func deletePoint(
        _ id: String,
        in feed: FeedKey
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        try await tell("DELETE", ["feeds", feed.text, "data", id])
    }

    /// One page of a feed's data points, newest first; `before` is the `next` of the page before it.
    public func points(
        in feed: FeedKey,
        _ query: PointQuery = PointQuery(),
        before: String? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<PointPage> {
        let path = ["feeds", feed.text, "data"]
        var fields: [(String, String)] = []
        if let start = query.start { fields.append(("start_time", start.forService)) }
        if let end = query.end { fields.append(("end_time", end.forService)) }
        if let limit = query.limit { fields.append(("limit", String(limit))) }
        if let before { fields.append(("before", before)) }
        let response = try await send("GET", path, query: fields)
        let link = response["Link"]
        let total = response["X-Pagination-Total"]
        return try understand(response, title("GET", path)) { json in
            json.list { StoredPoint($0) }.map { points in
                PointPage(
                    points: points,
                    next: link.flatMap { PaginationLink.next(in: $0, current: before) },
                    total: total.flatMap { Int($0) }
                )
            }
        }
    }

    /// All pages of a feed's data points, newest first, fetched as they are wanted.
    public func pages(of feed: FeedKey, _ query: PointQuery = PointQuery()) -> PointPages {
        PointPages(client: self, feed: feed, query: query)
    }
}
