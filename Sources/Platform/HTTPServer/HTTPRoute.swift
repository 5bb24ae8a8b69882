/// Answers a request, on Swift's cooperative pool; cancelled when the client goes or the server stops.
public typealias HTTPHandler = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// A handler and the requests it is for.
public struct HTTPRoute: Sendable {
    /// The method that it is for; `GET` includes `HEAD`.
    public let method: HTTPMethod
    /// The path that it is for, as it was written.
    public let pattern: String
    let handler: HTTPHandler
    let admit: (@Sendable (HTTPRequest) -> HTTPResponse?)?

    /// Makes a route. In the pattern `:name` stands for one segment, a last `*name` for one or more.
    ///
    /// `/feeds/:key/data/last` wins over `/feeds/:key/data/:id`, in whatever order they are listed.
    ///
    /// `admit` sees the request before its body: what it answers is the answer, and the body is thrown away as it comes.
    /// It runs on the server's thread, so it must be quick and must not wait.
    public init(
        _ method: HTTPMethod,
        _ pattern: String,
        admit: (@Sendable (HTTPRequest) -> HTTPResponse?)? = nil,
        handler: @escaping HTTPHandler
    ) {
        self.admit = admit
        self.method = method
        self.pattern = pattern
        self.handler = handler
    }
}
