internal import Diagnostics
internal import Glibc

/// A real mosquitto broker on a free port of 127.0.0.1, killed when the value goes away.
public final class Broker: Sendable {
    /// How the broker runs.
    public struct Options: Sendable {
        /// The certificate it shows; nil for plain TCP.
        public var certificate: CertificateAuthority.Certificate?
        /// Clients must show a certificate signed by this authority's file.
        public var clientAuthorityFile: String?
        /// Names and passwords; empty lets everybody in.
        public var users: [String: String] = [:]
        /// Further lines of mosquitto.conf, below `listener`.
        public var extraLines: [String] = []

        /// Plain TCP, everybody may come in.
        public init() {}
    }

    /// The port it listens on.
    public let port: Int
    /// The folder that holds its configuration.
    public let directory: TemporaryDirectory
    private let child: Guarded<ChildProcess?>

    /// Starts a broker and waits until it accepts connections.
    public static func start(_ configure: (inout Options) -> Void = { _ in }) async throws -> Broker {
        var options = Options()
        configure(&options)
        let directory = TemporaryDirectory()
        if !options.users.isEmpty {
            try directory.write("", to: "passwords")
            for (name, password) in options.users {
                try await ChildProcess.run("mosquitto_passwd", ["-b", directory.file("passwords"), name, password])
            }
        }
        for _ in 0..<10 {
            let port = LocalPorts.free()
            try directory.write(configuration(options, port: port, directory: directory), to: "mosquitto.conf")
            if let child = try await launch(directory, port: port) {
                return Broker(port: port, directory: directory, child: child)
            }
        }
        throw ChildProcess.Failure(description: "mosquitto found no free port in ten attempts")
    }

    private init(port: Int, directory: TemporaryDirectory, child: ChildProcess) {
        self.port = port
        self.directory = directory
        self.child = Guarded(child)
    }

    private static func configuration(_ options: Options, port: Int, directory: TemporaryDirectory) -> String {
        var lines = ["per_listener_settings false", "persistence false"]
        // Without the debug level, which is a line for each packet.
        lines += ["error", "warning", "notice", "information"].map { "log_type \($0)" }
        // To a file: mosquitto flushes that after each line, and its stdout never.
        lines.append("log_dest file \(directory.file("log"))")
        if geteuid() == 0 { lines.append("user root") }
        lines.append("listener \(port) 127.0.0.1")
        if let certificate = options.certificate {
            lines += ["certfile \(certificate.certificateFile)", "keyfile \(certificate.keyFile)"]
        }
        if let file = options.clientAuthorityFile {
            lines += ["cafile \(file)", "require_certificate true"]
        }
        if options.users.isEmpty {
            lines.append("allow_anonymous true")
        } else {
            lines += ["allow_anonymous false", "password_file \(directory.file("passwords"))"]
        }
        return (lines + options.extraLines).joined(separator: "\n") + "\n"
    }

    /// A running broker that accepts connections, or nil when it ended because the port was taken.
    private static func launch(_ directory: TemporaryDirectory, port: Int) async throws -> ChildProcess? {
        try directory.write("", to: "log")
        let child = try ChildProcess("mosquitto", ["-c", directory.file("mosquitto.conf")])
        // It says so itself: who answers on the port may be somebody else, who had it first.
        let log = { @Sendable in (try? directory.read("log")) ?? "" }
        try await until("mosquitto listens") { log().contains(" running\n") || !child.isRunning }
        guard child.isRunning else {
            let said = log()
            guard "\(said)\(child.talk)".contains("Address already in use") else {
                throw ChildProcess.Failure(description: "mosquitto ended: \(said)\(child.talk)")
            }
            return nil
        }
        return child
    }

    /// What it has logged since its last start.
    public var log: String { (try? directory.read("log")) ?? "" }

    /// Its process id; nil while it is stopped.
    public var pid: Int32? { child.withLock { $0 }?.pid }

    /// Kills it: its clients see the connection end.
    public func stop() async throws {
        let running = child.withLock { child in
            let running = child
            child = nil
            return running
        }
        running?.signal(SIGKILL)
        try await running?.ended()
    }

    /// Starts it again on the same port.
    public func restart() async throws {
        try await stop()
        guard let running = try await Broker.launch(directory, port: port) else {
            throw ChildProcess.Failure(description: "port \(port) was taken by another process")
        }
        child.withLock { $0 = running }
    }

    /// Stops it from answering, with its connections open: a half-open link as far as clients can tell.
    public func freeze() { child.withLock { $0 }?.signal(SIGSTOP) }

    /// Lets it go on after `freeze`.
    public func thaw() { child.withLock { $0 }?.signal(SIGCONT) }

    /// A `mosquitto_sub` that has subscribed: its output has a line `topic payload` for each message.
    public func subscriber(_ arguments: [String]) async throws -> ChildProcess {
        // stdbuf: a line reaches the file when it is said.
        let address = ["-h", "127.0.0.1", "-p", "\(port)"]
        let child = try ChildProcess("stdbuf", ["-oL", "mosquitto_sub", "-d", "-v"] + address + arguments)
        try await child.untilOutput(contains: "Subscribed (mid:")
        return child
    }

    /// Publishes with `mosquitto_pub`.
    public func publish(_ text: String, to topic: String, _ arguments: [String] = []) async throws {
        // From stdin, which an argument list would show; mosquitto_pub refuses an empty one.
        let address = ["-h", "127.0.0.1", "-p", "\(port)", "-t", topic, text.isEmpty ? "-n" : "-s"]
        try await ChildProcess.run("mosquitto_pub", address + arguments, input: text)
    }
}
