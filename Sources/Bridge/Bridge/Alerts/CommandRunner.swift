internal import Alerts
internal import Diagnostics
internal import Glibc

/// Runs the programs of alerts: no shell, a clean environment, no input, no output, a time limit.
///
/// Thread rule: each program is waited for on a thread of its own, since waiting blocks.
final class CommandRunner: Sendable {
    /// So many may run at one time; what comes beyond is counted and said.
    private static let most = 4

    private let running = Guarded(0)
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// Starts the program and returns at once.
    func run(_ command: AlertCommand, environment: [(name: String, value: String)]) {
        let isFree = running.withLock { running in
            guard running < Self.most else { return false }
            running += 1
            return true
        }
        guard isFree else {
            log.warning("\(command.path) was not run: \(Self.most) commands of alerts run already")
            return
        }
        OwnThread.start(name: "alert-command") { [log, self] in
            defer { running.withLock { $0 -= 1 } }
            if let problem = Self.execute(command, environment) { log.warning("\(command.path) \(problem)") }
        }
    }

    /// What went wrong, if anything.
    private static func execute(_ command: AlertCommand, _ environment: [(name: String, value: String)]) -> String? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // A library's sockets may not be close-on-exec.
        for descriptor in openDescriptors() where descriptor > 2 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A group of its own, so that what it starts ends with it.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP)
        )

        let arguments = [command.path] + command.arguments
        let variables = environment.map { "\($0.name)=\($0.value)" }
        var pid: pid_t = 0
        let code = withPointers(arguments) { arguments in
            withPointers(variables) { variables in
                posix_spawn(&pid, command.path, &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { return "could not be run: \(String(cString: strerror(code)))" }
        return wait(for: pid, atMost: command.timeLimit)
    }

    private static func wait(for pid: pid_t, atMost limit: Duration) -> String? {
        let end = SystemTime().boot().advanced(by: limit)
        var status: Int32 = 0
        while true {
            let found = waitpid(pid, &status, WNOHANG)
            if found == pid { return text(status) }
            if found < 0, errno != EINTR { return "could not be waited for: \(String(cString: strerror(errno)))" }
            guard SystemTime().boot() < end else {
                kill(-pid, SIGKILL)
                waitpid(pid, &status, 0)
                return "took longer than \(limit) and was ended"
            }
            usleep(20_000)
        }
    }

    private static func text(_ status: Int32) -> String? {
        let signal = status & 0x7F
        if signal != 0 { return "was ended by signal \(signal)" }
        let code = (status >> 8) & 0xFF
        return code == 0 ? nil : "ended with code \(code)"
    }

    private static func openDescriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name), number != dirfd(folder) { found.append(number) }
        }
        return found
    }

    private static func withPointers<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
