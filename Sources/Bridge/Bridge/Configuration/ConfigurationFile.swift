public import Diagnostics
internal import FoundationEssentials
internal import Glibc

/// Finds and reads `feedbridge.toml` and the key.
public enum ConfigurationFile {
    /// The places where a configuration is looked for, in order.
    public static func places(environment: [String: String]) -> [String] {
        func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.isEmpty ? nil : $0 } }
        let home = folder("XDG_CONFIG_HOME") ?? folder("HOME").map { "\($0)/.config" }
        return ["./feedbridge.toml"] + (home.map { ["\($0)/feedbridge/feedbridge.toml"] } ?? [])
            + ["/etc/feedbridge/feedbridge.toml"]
    }

    /// The configuration named on the command line, else the first that is there.
    public static func find(_ named: String?, environment: [String: String]) throws(ConfigurationError) -> String {
        if let named { return named }
        let places = places(environment: environment)
        if let found = places.first(where: { access($0, F_OK) == 0 }) { return found }
        throw problem(
            places[0],
            "there is no configuration (looked for \(places.joined(separator: ", "))). Make one with: feedbridge init"
        )
    }

    /// Reads and checks a configuration file.
    public static func load(_ path: String) throws(ConfigurationError) -> Configuration {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = String(cString: strerror(errno))
            throw problem(path, "cannot open it: \(reason). Make one with: feedbridge init --output \(path)")
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw problem(path, "group or others can write it; refused. Run: chmod go-w \(path)")
        }
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw problem(path, "cannot read it as UTF-8 text. Check its permissions and its encoding")
        }
        return try Configuration(parsing: text, file: path)
    }

    /// The account's key: `key_file`, else systemd's credential `aio-key`, else `ADAFRUIT_IO_KEY`.
    ///
    /// Of a plain broker it is the user's password: `key_file`, else `mqtt-password`, else `MQTT_PASSWORD`; nil for none.
    public static func key(for configuration: Configuration, environment: [String: String]) throws(ConfigurationError)
        -> Secret?
    {
        let account = configuration.account
        if account.isPlain, account.username.isEmpty { return nil }
        let (credential, variable) =
            account.isPlain ? ("mqtt-password", "MQTT_PASSWORD") : ("aio-key", "ADAFRUIT_IO_KEY")
        if let file = account.keyFile {
            return try key(in: file, configuration.file, mayBeShared: false)
        }
        if let folder = environment["CREDENTIALS_DIRECTORY"], access("\(folder)/\(credential)", F_OK) == 0 {
            return try key(in: "\(folder)/\(credential)", configuration.file, mayBeShared: true)
        }
        if let key = environment[variable], !key.isEmpty { return Secret(key) }
        // A user without a password is possible there.
        if account.isPlain { return nil }
        throw problem(
            configuration.file,
            "there is no key: set [account] key_file to a file that holds it, or ADAFRUIT_IO_KEY in the environment"
        )
    }

    private static func key(
        in file: String,
        _ configuration: String,
        mayBeShared: Bool
    ) throws(ConfigurationError) -> Secret {
        var status = stat()
        guard stat(file, &status) == 0 else {
            throw problem(configuration, "cannot open the key file \(file): \(String(cString: strerror(errno)))")
        }
        guard mayBeShared || status.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH) == 0 else {
            throw problem(
                configuration,
                "group or others can read the key file \(file); refused. Run: chmod 600 \(file)"
            )
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw problem(configuration, "cannot read the key file \(file)")
        }
        let key = text.prefix { !$0.isNewline }.filter { !$0.isWhitespace }
        guard !key.isEmpty else { throw problem(configuration, "the key file \(file) is empty") }
        return Secret(key)
    }

    private static func problem(_ file: String, _ text: String) -> ConfigurationError {
        ConfigurationError(problems: [ConfigurationProblem(file: file, line: 0, column: 0, text: text)])
    }
}
