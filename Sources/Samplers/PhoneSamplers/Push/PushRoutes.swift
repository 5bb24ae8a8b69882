public import Diagnostics
internal import FastJSON
internal import FoundationEssentials
public import HTTPServer
internal import Samples

/// The addresses that apps post to: `/in/sensor-logger`, `/in/owntracks`, `/in/overland`, `/in/json/NAME`.
///
/// Every request needs the token, also from this machine: any web page can reach it through somebody's browser. It is
/// asked for before the body is read. A body that is not taken costs its sender an answer and nobody else anything.
public final class PushRoutes: Sendable {
    private struct State {
        var samplers: [PushSampler] = []
        var token: Secret?
        var saidRefused: BootInstant?
    }

    private let state = Guarded(State())
    private let time: any TimeSource
    private let log: Log

    /// Makes routes that refuse everything until `replace`.
    public init(time: any TimeSource = SystemTime(), log: Log) {
        self.time = time
        self.log = log
    }

    /// Takes messages for these samplers from now on, from who has the token.
    public func replace(_ samplers: [PushSampler], token: Secret?) {
        state.withLock { state in
            state.samplers = samplers
            state.token = token
        }
    }

    /// What a server for phones allows: connections that trickle must not take the place of those that work.
    public static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.connections = 256
        return limits
    }

    /// The routes, for the server that Bridge owns.
    public var routes: [HTTPRoute] {
        ["sensor-logger", "owntracks", "overland"].flatMap { kind in
            // These apps can send a header, except that Sensor Logger's field for it is easily overlooked.
            ["/in/\(kind)", "/in/\(kind)/:name"].map { route($0, kind, tokenInQuery: kind == "sensor-logger") }
        } + [route("/in/json/:name", "json", tokenInQuery: true)]
    }

    private func route(_ pattern: String, _ kind: String, tokenInQuery: Bool) -> HTTPRoute {
        HTTPRoute(.post, pattern) { [self] request in
            admit(request, tokenInQuery: tokenInQuery)
        } handler: { [self] request in
            await answer(request, kind)
        }
    }

    // MARK: Who may come in

    private func admit(_ request: HTTPRequest, tokenInQuery: Bool) -> HTTPResponse? {
        let given = token(of: request, inQuery: tokenInQuery)
        let now = time.boot()
        let (isRight, isNews) = state.withLock { state -> (Bool, Bool) in
            if let token = state.token, !token.isEmpty, given == token { return (true, false) }
            let isNews = state.saidRefused.map { $0.duration(to: now) >= .seconds(60) } ?? true
            if isNews { state.saidRefused = now }
            return (false, isNews)
        }
        guard !isRight else { return nil }
        if isNews {
            let sender = request.remoteAddress ?? "somebody"
            log.warning("\(sender) posted to \(request.path) with\(given == nil ? "out a" : " a wrong") token")
        }
        var response = HTTPResponse.json(#"{"error":"the token is missing or wrong"}"#, status: 401)
        response.headers["WWW-Authenticate"] = #"Basic realm="feedbridge""#
        return response
    }

    /// A bearer token, the password of a log-in, or `?token=`.
    private func token(of request: HTTPRequest, inQuery: Bool) -> Secret? {
        if let header = request.headers["Authorization"] {
            let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            let text = parts.count == 2 ? parts[1].trimmingPrefix { $0 == " " } : parts.first ?? ""
            switch parts.count == 2 ? parts[0].lowercased() : "" {
            case "basic":
                guard let data = Data(base64Encoded: String(text)) else { return Secret("") }
                let login = String(decoding: data, as: UTF8.self)
                return Secret(login.firstIndex(of: ":").map { String(login[login.index(after: $0)...]) } ?? "")
            case "bearer", "":
                return Secret(String(text))
            default:
                return Secret("")
            }
        }
        return inQuery ? request.first(named: "token").map { Secret($0) } : nil
    }

    // MARK: What they say

    private func answer(_ request: HTTPRequest, _ kind: String) async -> HTTPResponse {
        let name = request.parameters["name"]
        guard let sampler = sampler(kind, named: name) else {
            let which = name.map { " with that name" + ($0.isEmpty ? "" : ", nor one without") } ?? ""
            return Self.failure(PushRefusal(404, "The bridge has no [[sampler]] of kind \"\(kind)\"\(which)."))
        }
        let message = PushMessage(
            body: request.body,
            topic: kind == "json" ? name ?? "" : "",
            user: request.headers["X-Limit-U"],
            device: request.headers["X-Limit-D"],
            arrival: time.boot(),
            wall: time.wall()
        )
        do {
            return HTTPResponse.json(try await sampler.take(message).body)
        } catch {
            return Self.failure(error)
        }
    }

    /// The sampler of the app and name; one without a name takes all JSON that is no other's.
    private func sampler(_ kind: String, named name: String?) -> PushSampler? {
        let samplers = state.withLock { $0.samplers }.filter { $0.kind == kind }
        let exact = samplers.first { $0.configuration.name?.text == name }
        return exact ?? (kind == "json" ? samplers.first { $0.configuration.name == nil } : nil)
    }

    private static func failure(_ refusal: PushRefusal) -> HTTPResponse {
        let body: JSON = ["error": .string(refusal.description)]
        var response = HTTPResponse.json(body.serialized(), status: refusal.status)
        if let wait = refusal.retryAfter { response.headers["Retry-After"] = "\(wait.components.seconds)" }
        return response
    }
}
