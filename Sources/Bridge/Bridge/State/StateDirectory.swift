internal import FoundationEssentials
internal import Glibc

/// The folder that holds what a bridge keeps, and the place of its local socket.
struct StateDirectory: Sendable, Equatable {
    /// The folder, mode 0700: it holds positions and health.
    let path: String
    /// The folder for sockets, when it is not `path`.
    let runtime: String?

    /// `state` of the configuration, else systemd's `$STATE_DIRECTORY`, else the user's state folder.
    init(_ configuration: Configuration, environment: [String: String]) throws(ConfigurationError) {
        if let state = configuration.state {
            path = state
            runtime = environment["RUNTIME_DIRECTORY"]
        } else if let state = environment["STATE_DIRECTORY"], !state.isEmpty {
            path = String(state.prefix { $0 != ":" })
            runtime = environment["RUNTIME_DIRECTORY"]
        } else if let home = environment["XDG_STATE_HOME"] ?? environment["HOME"].map({ "\($0)/.local/state" }),
            !home.isEmpty
        {
            path = "\(home)/feedbridge"
            runtime = environment["RUNTIME_DIRECTORY"] ?? environment["XDG_RUNTIME_DIR"].map { "\($0)/feedbridge" }
        } else {
            throw Self.problem(
                configuration.file,
                "there is no state directory: set state = \"/path\" in the configuration, or HOME in the environment"
            )
        }
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Where the local socket of this bridge is found, whichever folder it lies in.
    var socket: String { file("control.sock") }

    /// Where the local socket is made.
    var socketPlace: String { runtime.map { "\($0)/control.sock" } ?? socket }

    /// Makes the folders; fails with one sentence.
    func make(configurationFile: String) throws(ConfigurationError) {
        for folder in [path, runtime].compactMap(\.self) {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw Self.problem(
                    configurationFile,
                    "cannot make the state directory \(folder): \(String(cString: strerror(errno))). Set state to a folder that you may write"
                )
            }
            guard access(folder, W_OK | X_OK) == 0 else {
                throw Self.problem(
                    configurationFile,
                    "cannot write into the state directory \(folder): \(String(cString: strerror(errno))). Set state to a folder that you may write"
                )
            }
        }
        guard socketPlace.utf8.count < 108 else {
            throw Self.problem(
                configurationFile,
                "the path \(socketPlace) is too long for a socket (107 bytes at most). Set state to a shorter path"
            )
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
