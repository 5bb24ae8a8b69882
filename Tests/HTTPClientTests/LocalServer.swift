import Diagnostics
import HTTPServer

/// Our own server on a Unix socket.
struct LocalServer {
    private let server: HTTPServer

    init(path: String) throws {
        server = try HTTPServer(
            .unix(path: path),
            routes: [HTTPRoute(.get, "/status") { .text($0.remoteAddress ?? "local") }],
            log: .silent
        )
    }

    func stop() { server.stop() }
}
