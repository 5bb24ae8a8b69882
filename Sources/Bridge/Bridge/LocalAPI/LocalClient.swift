internal import FastJSON
internal import Glibc
internal import HTTPClient

/// Talks to the running bridge over its Unix socket.
struct LocalClient: Sendable {
    /// Nobody answers on the socket.
    struct NotRunning: Error, CustomStringConvertible {
        let socket: String

        var description: String {
            "no feedbridge answers on \(socket). Start it with: feedbridge run, or name its configuration with --config"
        }
    }

    private let socket: String
    private let client: HTTPClient

    init(_ directory: StateDirectory) {
        socket = directory.socket
        var configuration = HTTPClientConfiguration()
        configuration.unixSocket = socket
        configuration.connectTimeout = .seconds(3)
        client = HTTPClient(configuration)
    }

    /// Sends a request and gives the answer's JSON; what the bridge refuses becomes a `CommandError`.
    func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        defer { client.close() }
        let request = HTTPClientRequest(
            method,
            "http://feedbridge\(path)",
            body: body.map { Array($0.serialized().utf8) }
        )
        let response: HTTPClientResponse
        do {
            response = try await client.send(request)
        } catch {
            guard error.reason == .connect else { throw error }
            throw NotRunning(socket: socket)
        }
        let answer = response.body.isEmpty ? JSON.null : try JSON.parse(response.body)
        guard (200..<300).contains(response.status) else {
            throw CommandError(answer["error"]?.string ?? "the bridge answered with status \(response.status)")
        }
        return answer
    }
}
