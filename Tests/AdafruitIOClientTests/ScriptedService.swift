import AdafruitIOClient
import Diagnostics
import HTTPServer

/// A stand-in that answers what it is told to and keeps what it was asked.
final class ScriptedService: Sendable {
    struct Asked: Sendable, Equatable {
        var line: String
        var key: String?
        var body: String
    }

    private let server: Guarded<HTTPServer?> = Guarded(nil)
    private let answers: Guarded<[HTTPResponse]>
    private let asked = Guarded<[Asked]>([])
    let port: Int

    /// Gives the answers in turn, whatever is asked.
    init(_ answers: HTTPResponse...) throws {
        self.answers = Guarded(answers)
        let (left, asked) = (self.answers, asked)
        let server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0),
            routes: [],
            fallback: { request in
                let query = request.query.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
                let line = "\(request.method) \(request.path)" + (query.isEmpty ? "" : "?" + query)
                let entry = Asked(line: line, key: request.headers["X-AIO-Key"], body: request.text)
                asked.withLock { $0.append(entry) }
                return left.withLock { $0.isEmpty ? .empty(599) : $0.removeFirst() }
            },
            log: .silent
        )
        port = server.port
        self.server.withLock { $0 = server }
    }

    var requests: [Asked] { asked.withLock { $0 } }

    var lines: [String] { requests.map(\.line) }

    func client() throws -> AdafruitIOClient {
        var configuration = AdafruitIOClientConfiguration()
        configuration.service = "http://127.0.0.1:\(port)"
        // Longer than a busy machine needs.
        configuration.connectTimeout = .seconds(600)
        configuration.timeout = .seconds(600)
        configuration.stallTimeout = .seconds(600)
        return try AdafruitIOClient(username: "ada", key: Secret("aio_sesame"), configuration)
    }
}

extension HTTPResponse {
    func with(_ name: String, _ value: String) -> HTTPResponse {
        var copy = self
        copy.headers.add(name, value)
        return copy
    }
}

/// Bodies as the real service sent them.
enum Recorded {
    /// A created data point, 2020.
    static let point = """
        {"id":"0EEHN9V4J4NSARJB52AH9Z7ZDG","value":"text","feed_id":1373814,"feed_key":"weather-feed.wheater-checkpoint",\
        "created_at":"2020-05-12T20:52:50Z","location":{"type":"Feature","geometry":{"type":"Point","coordinates":\
        [0.0,0.0,0.0]}},"lat":0.0,"lon":0.0,"ele":0.0,"created_epoch":1589316770,"expiration":"2020-06-11T20:52:50Z"}
        """

    /// An element of a list: no place, so no members for it.
    static func listed(_ id: String, _ value: String) -> String {
        """
        {"id":"\(id)","value":"\(value)","feed_id":1373814,"feed_key":"load","created_at":"2020-05-12T20:52:50Z",\
        "created_epoch":1589316770,"expiration":"2020-06-11T20:52:50Z"}
        """
    }

    /// A feed, 2020.
    static let feed = """
        {"username":"ada","owner":{"id":1,"username":"ada"},"id":1373814,"name":"DemoFeed","description":"","license":null,\
        "history":true,"enabled":true,"visibility":"private","unit_type":null,"unit_symbol":null,"last_value":"42",\
        "created_at":"2020-05-12T20:00:00Z","updated_at":"2020-05-12T20:52:50Z","status_notify":false,\
        "status_timeout":4320,"status":"online","key":"demofeed","writable":true,"group":{"id":7,"key":"default",\
        "name":"Default","user_id":1},"groups":[{"id":7,"key":"default","name":"Default","user_id":1},{"id":8,\
        "key":"weather","name":"Weather","user_id":1}],"feed_webhook_receivers":[],"feed_status_changes":[]}
        """

    /// An account, 2021.
    static let user = """
        {"user":{"id":1,"username":"ada","name":"Ada","time_zone":"Europe/London","subscription":{"limits":{"feeds":10,\
        "dashboards":5,"groups":5,"data_ttl":2592000,"data_rate":30}}},"profile":{"name":"Ada"},"sidebar":{},\
        "navigation":{},"throttle":{"data_rate_limit":30,"active_data_rate":0},"system_messages":[]}
        """

    /// The documented form of a block.
    static let block = """
        {"id":"1871","name":"Recording","visual_type":"toggle_button","column":0,"row":0,"size_x":4,"size_y":4,\
        "source_key":null,"source":null,"properties":{"onText":"ON","offText":"OFF"},"block_feeds":[{"id":"9",\
        "feed":{"id":1373814,"name":"Recording","key":"recording"},"group":{"id":7,"name":"Default","key":"default"}}]}
        """
}
