internal import Diagnostics
internal import FastJSON
internal import HTTPServer
internal import Sockets

/// The second version of the service's REST interface, below `/api/v2`.
struct RESTInterface: Sendable {
    let service: SimulatedService
    let log: Log

    /// Answers a request whose path begins with `/api/v2`.
    func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        let (account, key) = identify(request)
        if let account { service.countRequest(of: account) }
        let fault = service.restFault()
        if let delay = fault.delay { try await service.time.sleep(for: delay) }
        if let refusal = fault.refusal { return decorated(refusal) }
        let response = await service.executor.run { () -> HTTPResponse in
            do throws(RESTError) {
                return try answer(request, account: account, key: key)
            } catch {
                if error.status >= 500 { log.error("REST \(request.method) \(request.path): \(error.error)") }
                return error.response
            }
        }
        return fault.losesAnswer ? .hangUp : decorated(response)
    }

    /// Answers the question that a browser asks before a request to another origin.
    static func options(_ request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.empty(204)
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Allow-Methods"] = "POST, PUT, DELETE, GET, OPTIONS, PATCH"
        response.headers["Access-Control-Allow-Headers"] =
            request.headers["Access-Control-Request-Headers"] ?? "X-AIO-Key, Content-Type"
        response.headers["Access-Control-Max-Age"] = "1728000"
        return response
    }

    private func decorated(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        // Of the service's own clock, which need not be the machine's.
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] =
            "X-Pagination-Limit, X-Pagination-Start, X-Pagination-End, X-Pagination-Count, X-Pagination-Total"
        // The service's own clock, whatever the machine's says.
        response.headers["Date"] = HTTPDate(service.time.wall()).description
        response.headers["X-Request-Id"] = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return response
    }

    /// The account that the request's key belongs to, and whether it had a key.
    private func identify(_ request: HTTPRequest) -> (account: String?, hasKey: Bool) {
        let inQuery = request.query.first { $0.0.lowercased() == "x-aio-key" }?.1
        guard let key = request.headers["X-AIO-Key"] ?? inQuery else { return (nil, false) }
        return (service.account(withKey: Secret(key)), true)
    }

    private func answer(_ request: HTTPRequest, account: String?, key: Bool) throws(RESTError) -> HTTPResponse {
        // Clients write double and trailing slashes, and may ask for JSON by a suffix.
        var segments = request.path.split(separator: "/").dropFirst(2).map(String.init)
        if let last = segments.last, last.hasSuffix(".json"), last != ".json" {
            segments[segments.count - 1] = String(last.dropLast(5))
        }
        if segments.first == "webhooks" { return try webhook(request, Array(segments.dropFirst())) }
        guard let account else { throw .keyRefused }
        if segments == ["user"] {
            guard request.method == .get || request.method == .head else { throw methodNotAllowed([.get]) }
            return try handlers(request, account: account).showUser()
        }
        guard let user = segments.first, segments.count > 1 else { throw .invalidAddress }
        guard user == account else {
            guard service.accounts.contains(user) else { throw .notFound }
            throw RESTError(403, "not authorized - the key belongs to another account")
        }
        switch RESTRoutes.all.match(request.method, Array(segments.dropFirst())) {
        case .route(let route, let parameters):
            return try route.handler(try handlers(request, account: account, parameters))()
        case .otherMethods(let methods):
            throw methodNotAllowed(methods)
        case .none:
            throw .invalidAddress
        }
    }

    private func methodNotAllowed(_ methods: [HTTPMethod]) -> RESTError {
        var error = RESTError(
            405,
            "request failed - this address takes \(methods.map(\.rawValue).joined(separator: ", "))"
        )
        error.headers["Allow"] = methods.map(\.rawValue).joined(separator: ", ")
        return error
    }

    private func handlers(
        _ request: HTTPRequest,
        account: String,
        _ parameters: [String: String] = [:]
    ) throws(RESTError) -> RESTHandlers {
        let id = try asREST { () throws(StoreError) in try service.store.accountID(account) }
        return RESTHandlers(
            service: service,
            call: RESTCall(
                request: request,
                account: account,
                parameters: parameters,
                now: service.time.wall()
            ),
            replies: Replies(account: account, accountID: id, plan: service.plan(of: account))
        )
    }

    /// `webhooks/feed/TOKEN`, `.../raw` and `.../notify` need no key: the token says which feed.
    private func webhook(_ request: HTTPRequest, _ segments: [String]) throws(RESTError) -> HTTPResponse {
        guard segments.count == 2 || segments.count == 3, segments[0] == "feed" else { throw .invalidAddress }
        guard request.method == .post else { throw methodNotAllowed([.post]) }
        let token = try asREST { () throws(StoreError) in try service.store.token(key: segments[1]) }
        guard let token, let number = token.body["feed_id"]?.int64 else { throw .notFound }
        let handlers = try handlers(request, account: token.account)
        return try handlers.webhook(to: try handlers.feed(String(number)), form: segments.dropFirst(2).first)
    }
}

extension RESTHandlers {
    /// Stores what a web hook was sent: a value with a place, the whole body, or `ping`.
    fileprivate func webhook(to feed: StoredFeed, form: String?) throws(RESTError) -> HTTPResponse {
        let context = "\(account)/feeds/\(feed.fullKey)"
        let members: JSONObject
        switch form {
        case nil:
            var given = try call.record("datum", "payload")
            if given.given("value") == nil { given["value"] = given.given("payload") }
            members = given
        case "raw":
            let most = feed.history ? 1024 : 100 * 1024
            members = ["value": .string(String(decoding: call.request.body.prefix(most), as: UTF8.self))]
        case "notify": members = ["value": "ping"]
        default: throw .invalidAddress
        }
        let datum = try GivenDatum(members, context: context)
        try spend()
        return reply(replies.datum(try publish(datum, to: feed), of: feed))
    }
}
