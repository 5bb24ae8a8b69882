internal import Diagnostics
internal import Glibc

/// A program that runs beside a test, its output in a file; killed when the value goes away.
public final class ChildProcess: Sendable {
    /// What went wrong with a child.
    public struct Failure: Error, CustomStringConvertible {
        /// One sentence, with the child's output.
        public let description: String
    }

    private enum State {
        case runs
        case ended(Int32)
    }

    /// The process id.
    public let pid: Int32
    private let program: String
    private let directory: TemporaryDirectory
    private let state = Guarded(State.runs)

    /// Starts `program` (looked up in the PATH, then in /usr/sbin); `input` becomes its standard input.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        environment extra: [String: String] = [:],
        input: String = ""
    ) throws {
        self.program = program
        directory = TemporaryDirectory()
        try directory.write(input, to: "input")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, directory.file("input"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, directory.file("output"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, directory.file("talk"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // A library's sockets may not be close-on-exec; a child that holds one would keep a connection open.
        GNUExtensions.closeAll(from: 3, in: &actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A child starts with default signals, whatever this process ignores.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        var environment: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { environment[String(pair[0])] = String(pair[1]) }
            entry += 1
        }
        environment["PATH", default: "/usr/bin:/bin"] += ":/usr/sbin:/sbin"
        environment.merge(extra) { _, new in new }

        var argv = ([program] + arguments).map { strdup($0) }
        var envp = environment.map { strdup("\($0.key)=\($0.value)") }
        argv.append(nil)
        envp.append(nil)
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let path = ChildProcess.find(program, in: environment["PATH"] ?? "")
        let code = posix_spawn(&pid, path, &actions, &attributes, argv, envp)
        guard code == 0 else {
            throw Failure(description: "cannot start \(program): \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    deinit {
        if isRunning {
            kill(pid, SIGKILL)
            var status: Int32 = 0
            waitpid(pid, &status, 0)
        }
    }

    private static func find(_ program: String, in path: String) -> String {
        guard !program.contains("/") else { return program }
        return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 } ?? program
    }

    /// The exit code, minus the signal's number when a signal ended it, nil while it runs.
    public var exitCode: Int32? {
        state.withLock { state in
            if case .ended(let code) = state { return code }
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
            let signal = status & 0x7f
            let code = signal == 0 ? (status >> 8) & 0xff : -signal
            state = .ended(code)
            return code
        }
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { exitCode == nil }

    /// What it has written to stdout.
    public var output: String { (try? directory.read("output")) ?? "" }

    /// What it has written to stderr.
    public var talk: String { (try? directory.read("talk")) ?? "" }

    /// Sends a signal, SIGTERM unless another is named.
    public func signal(_ number: Int32 = 15) {
        if isRunning { kill(pid, number) }
    }

    /// Waits for its end and returns the exit code; throws when it has not ended within `limit`.
    @discardableResult
    public func ended(within limit: Duration = .seconds(120)) async throws -> Int32 {
        try await until("\(program) has ended", within: limit) { !self.isRunning }
        return exitCode ?? 0
    }

    /// Waits until its output holds `text`.
    public func untilOutput(contains text: String, within limit: Duration = .seconds(120)) async throws {
        try await until("\(program) has said '\(text)'", within: limit) {
            self.output.contains(text) || self.talk.contains(text) || !self.isRunning
        }
        guard output.contains(text) || talk.contains(text) else {
            throw Failure(description: "\(program) ended without saying '\(text)': \(output)\(talk)")
        }
    }

    /// As `run`, for tests that are not asynchronous; it blocks the calling thread.
    @discardableResult
    public static func runBlocking(_ program: String, _ arguments: [String] = []) throws -> String {
        let child = try ChildProcess(program, arguments)
        while child.isRunning { usleep(1000) }
        guard child.exitCode == 0 else {
            throw Failure(description: "\(program) ended with \(child.exitCode ?? -1): \(child.output)\(child.talk)")
        }
        return child.output
    }

    /// Runs a program to its end and returns its output; throws with what it said when it fails.
    @discardableResult
    public static func run(
        _ program: String,
        _ arguments: [String] = [],
        input: String = "",
        within limit: Duration = .seconds(120)
    ) async throws -> String {
        let child = try ChildProcess(program, arguments, input: input)
        let code = try await child.ended(within: limit)
        guard code == 0 else {
            throw Failure(description: "\(program) ended with \(code): \(child.output)\(child.talk)")
        }
        return child.output
    }
}

/// Asks again and again until `condition` holds: only for what happens in other processes. Throws after `limit`.
///
/// The limit is a net for what never happens, far beyond what a busy machine takes. It asks more seldom the longer it
/// takes: many tests wait like this at the same time.
public func until(
    _ what: String,
    within limit: Duration = .seconds(120),
    _ condition: @Sendable () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        let waited = start.duration(to: ContinuousClock.now)
        guard waited < limit else {
            throw ChildProcess.Failure(description: "waited \(limit) in vain until \(what)")
        }
        try await Task.sleep(for: min(max(waited / 8, .milliseconds(2)), .milliseconds(100)))
    }
}
