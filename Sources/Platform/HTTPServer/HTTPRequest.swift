/// A request that has arrived whole.
public struct HTTPRequest: Sendable {
    /// What is wanted; a `HEAD` request reaches the route for `GET` as `HEAD`.
    public var method: HTTPMethod
    /// The path with its escapes resolved, without the query: `/api/v2/ada/feeds`.
    public var path: String
    /// Names and values of the query, in their order.
    public var query: [(String, String)]
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body, at most as large as the server's limits say.
    public var body: [UInt8]
    /// The peer's address without its port; nil on a Unix socket.
    public var remoteAddress: String?
    /// What stood in the places of the route's pattern: `:user` gives `parameters["user"]`.
    public var parameters: [String: String]

    /// Makes a request; for trying a handler without a server.
    public init(
        method: HTTPMethod = .get,
        path: String,
        query: [(String, String)] = [],
        headers: HTTPHeaders = [:],
        body: [UInt8] = [],
        remoteAddress: String? = nil,
        parameters: [String: String] = [:]
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.parameters = parameters
    }

    /// The first value of `name` in the query.
    public func first(named name: String) -> String? {
        query.first { $0.0 == name }?.1
    }

    /// The body as text; bytes that are no UTF-8 become replacement characters.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Names and values of a body that is `application/x-www-form-urlencoded`; nil when it is something else or broken.
    public var form: [(String, String)]? {
        let kind = headers["Content-Type"]?.split(separator: ";").first.map { $0.filter { $0 != " " } }
        guard let kind, kind.equalsIgnoringCase("application/x-www-form-urlencoded"),
            let text = String(validating: body, as: UTF8.self)
        else { return nil }
        return PercentCoding.fields(text[...])
    }
}
