internal import Diagnostics
internal import FoundationEssentials
internal import Glibc

/// The token that apps must show.
enum HTTPToken {
    /// The token of `token_file`, else of systemd's credential `http-token`, else of `http-token` in the state folder.
    ///
    /// The last is made when it is missing.
    static func load(
        _ configuration: Configuration,
        _ directory: StateDirectory,
        environment: [String: String]
    ) throws(ConfigurationError) -> Secret {
        if let file = configuration.http.tokenFile { return try read(file, configuration.file) }
        if let folder = environment["CREDENTIALS_DIRECTORY"], access("\(folder)/http-token", F_OK) == 0 {
            return try read("\(folder)/http-token", configuration.file, mayBeShared: true)
        }
        let file = directory.file("http-token")
        if access(file, F_OK) != 0 { try make(file, configuration.file) }
        return try read(file, configuration.file)
    }

    /// A text of a file that nobody else may read: a token, a password.
    static func read(
        _ file: String,
        _ configuration: String,
        mayBeShared: Bool = false,
        least: Int = 8,
        keepsSpaces: Bool = false
    ) throws(ConfigurationError) -> Secret {
        var status = stat()
        guard stat(file, &status) == 0 else {
            throw problem(configuration, "cannot open \(file): \(String(cString: strerror(errno)))")
        }
        guard mayBeShared || status.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH) == 0 else {
            throw problem(configuration, "group or others can read \(file); refused. Run: chmod 600 \(file)")
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw problem(configuration, "cannot read \(file)")
        }
        let token = text.prefix { !$0.isNewline }.filter { keepsSpaces || !$0.isWhitespace }
        guard token.utf8.count >= least else {
            throw problem(
                configuration,
                "\(file) must hold at least \(least) characters, such as: openssl rand -hex 16 > \(file)"
            )
        }
        return Secret(token)
    }

    private static func make(_ file: String, _ configuration: String) throws(ConfigurationError) {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
        // 24 of 32 letters are 120 bits, and can be typed into a phone.
        let letters = (0..<24).map { _ in alphabet[Int(random.next() & 31)] }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw problem(configuration, "cannot make \(file): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let bytes = letters + [UInt8(ascii: "\n")]
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            unlink(file)
            throw problem(configuration, "cannot write \(file): \(String(cString: strerror(errno)))")
        }
    }

    private static func problem(_ file: String, _ text: String) -> ConfigurationError {
        ConfigurationError(problems: [ConfigurationProblem(file: file, line: 0, column: 0, text: text)])
    }
}
