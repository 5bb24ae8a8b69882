/// What a handler answers.
public struct HTTPResponse: Sendable {
    /// The status code, 200 to 599.
    public var status: Int
    /// The header fields; length, date and connection are the server's business.
    public var headers: HTTPHeaders
    /// What follows the headers.
    public var body: HTTPBody

    /// Makes a response.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: HTTPBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        .bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// JSON that is already written.
    public static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        .bytes(Array(text.utf8), type: "application/json; charset=utf-8", status: status)
    }

    /// Bytes of a media type.
    public static func bytes(_ bytes: [UInt8], type: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": type], body: .bytes(bytes))
    }

    /// A file of a media type; 404 when it cannot be read.
    public static func file(_ path: String, type: String) -> HTTPResponse {
        HTTPResponse(headers: ["Content-Type": type], body: .file(path))
    }

    /// A stream of events for a browser's `EventSource`.
    public static func events(_ events: ServerSentEvents) -> HTTPResponse {
        HTTPResponse(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
            body: .events(events)
        )
    }

    /// No answer at all: the connection is closed. For simulating a server that fails.
    public static let hangUp = HTTPResponse(body: .hangUp)

    /// A status without a body.
    public static func empty(_ status: Int) -> HTTPResponse {
        HTTPResponse(status: status)
    }
}

/// What follows the headers of a response.
public enum HTTPBody: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A regular file, read while it is sent.
    case file(String)
    /// Server-sent events, until their source ends or the client goes.
    case events(ServerSentEvents)
    /// Nothing: the connection is closed without an answer, as when a server dies at that moment.
    case hangUp
}
