import Diagnostics
import FastJSON
import Foundation
import TestKit

/// What a server answered to curl.
struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let text: String

    var json: JSON { get throws { try JSON.parse(text) } }
}

/// Requests by a client that others wrote.
enum Curl {
    /// Sends a request and waits for its answer; status 0 when there was none.
    static func send(
        _ method: String = "GET",
        _ url: String,
        headers: [String] = [],
        body: String? = nil,
        arguments: [String] = []
    ) async throws -> Answer {
        var all = ["-s", "-i", "-X", method, "--max-time", "100"] + headers.flatMap { ["-H", $0] } + arguments
        if let body { all += ["--data-binary", body] }
        if method == "HEAD" { all = ["-s", "-I", "--max-time", "100"] }
        let output = try await run(all + [url])
        return parse(output)
    }

    private static func run(_ arguments: [String]) async throws -> String {
        let curl = try ChildProcess("curl", arguments)
        try await curl.ended()
        return curl.output
    }

    private static func parse(_ output: String) -> Answer {
        guard let end = output.range(of: "\r\n\r\n") else { return Answer(status: 0, headers: [:], text: output) }
        let lines = output[..<end.lowerBound].components(separatedBy: "\r\n")
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces
            )
        }
        return Answer(status: status, headers: headers, text: String(output[end.upperBound...]))
    }
}

/// The lines of a stream that curl follows.
final class CurlStream: Sendable {
    let lines: AsyncStream<String>
    private let process: ChildProcess

    init(_ url: String) throws {
        let process = try ChildProcess("curl", ["-s", "-N", "--max-time", "200", url])
        self.process = process
        lines = AsyncStream { continuation in
            let follower = Task {
                var count = 0
                while !Task.isCancelled {
                    let isRunning = process.isRunning
                    let whole = process.output.components(separatedBy: "\n").dropLast()
                    for line in whole.dropFirst(count) { continuation.yield(line) }
                    count = whole.count
                    guard isRunning else { break }
                    try? await Task.sleep(for: .milliseconds(5))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in follower.cancel() }
        }
    }

    deinit {
        process.signal()
    }
}
