import Diagnostics
import FastJSON
import Foundation

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
        var all = ["-s", "-i", "-X", method, "--max-time", "20"] + headers.flatMap { ["-H", $0] } + arguments
        if let body { all += ["--data-binary", body] }
        if method == "HEAD" { all = ["-s", "-I", "--max-time", "20"] }
        let output = try await run(all + [url])
        return parse(output)
    }

    private static func run(_ arguments: [String]) async throws -> String {
        try await BlockingExecutor(label: "curl").run { () throws -> String in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            process.arguments = arguments
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = FileHandle.nullDevice
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }
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
    private let process: Guarded<Int32>

    init(_ url: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["-s", "-N", "--max-time", "50", url]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        self.process = Guarded(process.processIdentifier)
        let handle = pipe.fileHandleForReading
        lines = AsyncStream { continuation in
            let thread = Thread {
                var rest = Data()
                while true {
                    let data = handle.availableData
                    guard !data.isEmpty else { break }
                    rest.append(data)
                    while let end = rest.firstIndex(of: 10) {
                        continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                        rest = rest[rest.index(after: end)...]
                    }
                }
                continuation.finish()
            }
            thread.start()
        }
    }

    deinit {
        _ = process.withLock { kill($0, SIGTERM) }
    }
}
