import TestKit

/// Runs a program of the machine and gives what it prints; throws when it fails.
func run(_ arguments: String...) async throws -> String {
    try await ChildProcess.run(arguments[0], Array(arguments.dropFirst()))
}
