import Diagnostics
import Foundation

/// Runs a program of the machine and gives what it prints; throws when it fails.
func run(_ arguments: String...) async throws -> String {
    struct Failure: Error {
        let status: Int32
        let output: String
    }
    return try await BlockingExecutor(label: "tool").run { () throws -> String in
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(status: process.terminationStatus, output: text)
        }
        return text
    }
}
