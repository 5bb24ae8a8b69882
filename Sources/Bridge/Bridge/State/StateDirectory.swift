internal import Glibc
internal import SQLite

/// The folder that holds what a bridge keeps, and the place of its local socket.
struct StateDirectory: Sendable, Equatable {
    /// The folder, mode 0700: it holds positions and health.
    let path: String
    /// The folder for sockets, when it is not `path`.
    let runtime: String?

    /// `state` of the configuration, else systemd's `$STATE_DIRECTORY`, else the user's state folder.
    init(_ configuration: Configuration, environment: [String: String]) throws(ConfigurationError) {
        // A variable that is empty is as good as none; systemd may name several folders, of which the first is meant.
        func folder(_ variable: String) -> String? {
            guard let text = environment[variable], !text.isEmpty else { return nil }
            return String(text.prefix { $0 != ":" })
        }
        let home = folder("XDG_STATE_HOME") ?? folder("HOME").map { "\($0)/.local/state" }
        if let state = configuration.state ?? folder("STATE_DIRECTORY") {
            path = state
            runtime = folder("RUNTIME_DIRECTORY")
        } else if let home {
            path = "\(home)/feedbridge"
            runtime = folder("RUNTIME_DIRECTORY") ?? folder("XDG_RUNTIME_DIR").map { "\($0)/feedbridge" }
        } else {
            throw Self.problem(
                configuration.file,
                "there is no state directory: set state = \"/path\" in the configuration, or HOME in the environment"
            )
        }
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Damaged files that were set aside in the folder.
    var damagedFiles: [String] {
        ["outbox", "recordings", "state"].flatMap { DatabaseFiles(folder: path, name: $0).damaged() }
    }

    /// Where the local socket of this bridge is found, whichever folder it lies in.
    var socket: String { file("control.sock") }

    /// Where the local socket is made.
    var socketPlace: String { runtime.map { "\($0)/control.sock" } ?? socket }

    /// Makes the folders; fails with one sentence.
    func make(configurationFile: String) throws(ConfigurationError) {
        for folder in [path, runtime].compactMap(\.self) {
            if let code = Self.make(folder) {
                throw Self.problem(
                    configurationFile,
                    "cannot make the state directory \(folder): \(String(cString: strerror(code))). Set state to a folder that you may write"
                )
            }
            guard access(folder, W_OK | X_OK) == 0 else {
                throw Self.problem(
                    configurationFile,
                    "cannot write into the state directory \(folder): \(String(cString: strerror(errno))). Set state to a folder that you may write"
                )
            }
        }
        // Clients find it by the name in the state directory.
        for path in [socketPlace, socket] where path.utf8.count >= 108 {
            throw Self.problem(
                configurationFile,
                "the path \(path) is too long for a socket (107 bytes at most). Set state to a shorter path"
            )
        }
    }

    /// Makes a folder with those above it, each for its owner alone; the error's number when that fails.
    private static func make(_ folder: String) -> Int32? {
        guard mkdir(folder, 0o700) != 0 else { return nil }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(folder, &status) == 0 else { return errno }
            return status.st_mode & S_IFMT == S_IFDIR ? nil : ENOTDIR
        case ENOENT:
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return ENOENT }
            if let code = make(String(folder[..<slash])) { return code }
            guard mkdir(folder, 0o700) != 0, errno != EEXIST else { return nil }
            return errno
        case let code: return code
        }
    }

    /// Makes the socket findable in the folder when it lies elsewhere.
    func linkSocket() {
        guard socketPlace != socket else { return }
        unlink(socket)
        symlink(socketPlace, socket)
    }

    private static func problem(_ file: String, _ text: String) -> ConfigurationError {
        ConfigurationError(problems: [ConfigurationProblem(file: file, line: 0, column: 0, text: text)])
    }
}
