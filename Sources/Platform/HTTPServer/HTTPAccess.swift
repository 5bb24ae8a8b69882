/// Which `Host` and `Origin` a server answers, so that a web page cannot reach it through somebody's browser.
///
/// A page that rebinds its own name to this machine sends that name as `Host` and gets 421. A page of another origin
/// gets 403. A client that is no browser sends no `Origin`. On a Unix socket nothing is checked: no page can reach it.
public struct HTTPAccess: Sendable {
    /// Whether any `Host` will do; otherwise an address, `localhost` or one of `names`.
    public var anyHost: Bool
    /// Names of this machine that may stand in `Host`.
    public var names: [String]
    /// Whether any `Origin` will do; otherwise the server's own or one of `origins`.
    public var anyOrigin: Bool
    /// Foreign origins that are welcome: `https://example.org`.
    public var origins: [String]

    /// Answers addresses, `localhost` and `names`, and the pages it served itself or that `origins` served.
    public static func strict(names: [String] = [], origins: [String] = []) -> HTTPAccess {
        HTTPAccess(anyHost: false, names: names, anyOrigin: false, origins: origins)
    }

    /// Answers everybody; for an interface that asks for a key on every request.
    public static let open = HTTPAccess(anyHost: true, names: [], anyOrigin: true, origins: [])

    private init(anyHost: Bool, names: [String], anyOrigin: Bool, origins: [String]) {
        self.anyHost = anyHost
        self.names = names
        self.anyOrigin = anyOrigin
        self.origins = origins
    }

    /// The answer for a request that may not pass; nil when it may. Public for servers with stricter rules on some paths.
    public func refusal(host: String?, origin: String?, secure: Bool) -> HTTPResponse? {
        if !anyHost, let host, !accepts(host: host) {
            return .text("This server does not answer for that host name.\n", status: 421)
        }
        if !anyOrigin, let origin, !accepts(origin: origin, host: host, secure: secure) {
            return .text("This server does not answer pages of that origin.\n", status: 403)
        }
        return nil
    }

    private func accepts(host: String) -> Bool {
        guard let name = Self.withoutPort(host) else { return false }
        return name.equalsIgnoringCase("localhost") || Address.isNumeric(name)
            || names.contains { $0.equalsIgnoringCase(name) }
    }

    private func accepts(origin: String, host: String?, secure: Bool) -> Bool {
        if origins.contains(where: { $0.equalsIgnoringCase(origin) }) { return true }
        guard let host else { return false }
        return origin.equalsIgnoringCase((secure ? "https://" : "http://") + host)
    }

    /// `localhost:8080` gives `localhost`, `[::1]:80` gives `::1`; nil when it is neither form.
    static func withoutPort(_ host: String) -> String? {
        let name: Substring
        let rest: Substring
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            name = host[host.index(after: host.startIndex)..<end]
            rest = host[host.index(after: end)...]
        } else {
            let colon = host.firstIndex(of: ":") ?? host.endIndex
            name = host[..<colon]
            rest = host[colon...]
        }
        let portIsFine =
            rest.isEmpty || (rest.first == ":" && rest.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
        return portIsFine && !name.isEmpty ? String(name) : nil
    }
}
