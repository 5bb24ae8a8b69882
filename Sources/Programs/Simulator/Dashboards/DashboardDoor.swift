internal import Diagnostics
internal import FastJSON
internal import Glibc
internal import HTTPServer
internal import Sockets

/// The pages of the dashboards, what they ask for, and what they write.
///
/// They have no login: whoever reaches the machine may see them. What other web pages could do through somebody's
/// browser is closed off: an unknown `Host` or a foreign `Origin` is refused, no answer may be read by another origin,
/// and a write carries a secret that only such an answer holds.
struct DashboardDoor: Sendable {
    private let service: SimulatedService
    private let access: HTTPAccess
    private let secret: Secret

    init(service: SimulatedService) {
        self.service = service
        let digits = Array("0123456789abcdef")
        secret = Secret(String((0..<48).compactMap { _ in digits.randomElement() }))
        let name = DashboardDoor.hostName()
        access = .strict(names: name.isEmpty ? [] : [name, name + ".local"])
    }

    /// The routes; `/api` is not among them.
    var routes: [HTTPRoute] {
        [
            route(.get, "/") { _ in DashboardAssets.page("index.html") },
            route(.get, "/dashboards.json") { _ in try await overview() },
            route(.get, "/assets/:name") { request in DashboardAssets.asset(request.parameters["name"] ?? "") },
            route(.get, "/vendor/dygraphs/:name") { request in
                DashboardAssets.dygraphs(request.parameters["name"] ?? "")
            },
            route(.get, "/:account/dashboards/:key") { _ in DashboardAssets.page("dashboard.html") },
            route(.get, "/:account/dashboards/:key/state") { request in try await state(request) },
            route(.get, "/:account/dashboards/:key/events") { request in try await events(request) },
            route(.post, "/:account/dashboards/:key/value") { request in try await write(request) },
        ]
    }

    private func route(_ method: HTTPMethod, _ pattern: String, _ handler: @escaping HTTPHandler) -> HTTPRoute {
        HTTPRoute(method, pattern) { request in
            let (host, origin) = (request.headers["Host"], request.headers["Origin"])
            let refusal = access.refusal(host: host, origin: origin, secure: false)
            return DashboardAssets.guarded(try await refusal.orElse { try await handler(request) })
        }
    }

    private func overview() async throws -> HTTPResponse {
        try await service.executor.run { () throws(StoreError) -> HTTPResponse in
            .json(try DashboardState.overview(service).serialized())
        }
    }

    private func state(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (account, key) = names(request)
        let state = try await service.executor.run { () throws(StoreError) -> JSON? in
            try DashboardState.state(service, account: account, key: key, secret: secret)
        }
        return state.map { .json($0.serialized()) } ?? .json(#"{"error":"not found"}"#, status: 404)
    }

    private func names(_ request: HTTPRequest) -> (account: String, key: String) {
        (request.parameters["account"] ?? "", request.parameters["key"] ?? "")
    }

    /// Everything that happens on the account; the page takes what belongs to it.
    private func events(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (account, key) = names(request)
        let isKnown = try await service.executor.run { () throws(StoreError) -> Bool in
            guard service.accounts.contains(account) else { return false }
            return try service.store.dashboard(account: account, identifier: key) != nil
        }
        guard isKnown else { return .json(#"{"error":"not found"}"#, status: 404) }
        return .events(
            ServerSentEvents { sender in
                for await event in service.events(of: account) {
                    guard let event = DashboardState.event(event, key: key) else { continue }
                    guard (try? await sender.send(event)) != nil else { return }
                }
            }
        )
    }

    private func write(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard Secret(request.headers["X-Dashboard-Secret"] ?? "") == secret else {
            return .json(
                #"{"error":"this page is from before the simulator was started again: reload it"}"#,
                status: 403
            )
        }
        guard let body = try? JSON.parse(request.body), let id = body["feed"]?.int64, let value = body["value"]?.string
        else { return .json(#"{"error":"feed and value are needed"}"#, status: 400) }
        let account = names(request).account
        return try await service.executor.run { () throws(StoreError) -> HTTPResponse in
            guard service.accounts.contains(account), let feed = try service.store.feed(account: account, id: id)
            else { return .json(#"{"error":"there is no such feed"}"#, status: 404) }
            switch try service.write(value, to: feed, account: account) {
            case .stored: return .json(#"{"ok":true}"#)
            case .throttled(let seconds):
                return .json(#"{"error":"the account is throttled for \#(seconds) seconds"}"#, status: 429)
            case .refused(let reason):
                return .json(JSON.object(["error": .string(reason)]).serialized(), status: 422)
            }
        }
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension HTTPResponse? {
    fileprivate func orElse(_ other: () async throws -> HTTPResponse) async rethrows -> HTTPResponse {
        if let self { return self }
        return try await other()
    }
}
