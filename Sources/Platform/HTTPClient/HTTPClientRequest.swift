public import Diagnostics

/// A request to send.
public struct HTTPClientRequest: Sendable {
    /// `GET`, `POST` and so on.
    public var method: String
    /// The whole address, `http://` or `https://`, without a user in it.
    public var url: String
    /// Header fields, in their order.
    public var headers: [(String, String)]
    /// Header fields whose values never show.
    public var secretHeaders: [(String, Secret)]
    /// The body; nil sends none.
    public var body: [UInt8]?
    /// Time for the whole request, where it is not the configuration's.
    public var timeout: Duration?

    /// Makes a request.
    public init(
        _ method: String = "GET",
        _ url: String,
        headers: [(String, String)] = [],
        secretHeaders: [(String, Secret)] = [],
        body: [UInt8]? = nil,
        timeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.secretHeaders = secretHeaders
        self.body = body
        self.timeout = timeout
    }

    /// Method and address without what nobody should read: a user, the query.
    var title: String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = address.firstRange(of: "://") else { return "\(method) \(address)" }
        let rest = address[scheme.upperBound...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let host = rest[..<end].lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return "\(method) \(address[..<scheme.upperBound])\(host)"
    }
}
