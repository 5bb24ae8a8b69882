import Diagnostics
import HTTPServer
import TestKit

/// Lines of a log, for looking at them.
final class LogLines: Sendable {
    private let lines = Guarded<[String]>([])

    var log: Log {
        Log(program: "test", least: .info) { line in self.lines.withLock { $0.append(line) } }
    }

    var all: [String] { lines.withLock { $0 } }
}

func serve(
    _ routes: [HTTPRoute],
    limits: HTTPLimits = .patient,
    access: HTTPAccess = .strict(),
    options: HTTPHandler? = nil,
    fallback: HTTPHandler? = nil,
    log: Log = .silent
) throws -> HTTPServer {
    try HTTPServer(
        .tcp(host: "127.0.0.1", port: 0),
        routes: routes,
        limits: limits,
        access: access,
        options: options,
        fallback: fallback,
        log: log
    )
}

/// Something that one side says and another waits for.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    func fire() { continuation.yield() }

    func wait() async {
        var iterator = stream.makeAsyncIterator()
        _ = await iterator.next()
    }
}

extension HTTPLimits {
    /// Waits longer than a busy machine needs: where time is not what a test is about, it must not decide.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.inactivity = .seconds(600)
        limits.requestTime = .seconds(600)
        return limits
    }
}
