internal import Diagnostics
internal import Glibc
internal import Samples

/// `feedbridge init`: writes a commented configuration for what is found on this machine.
public struct InitCommand: Command {
    private let path: String
    private let force: Bool

    /// Makes the command; without `output` it writes `./feedbridge.toml`.
    public init(output: String?, force: Bool) {
        path = output ?? "./feedbridge.toml"
        self.force = force
    }

    /// Writes the file, mode 0644 whatever the umask: it holds no secret.
    public func run(_ context: CommandContext) async throws {
        let sample = ConfigurationSample(
            name: Self.bridgeName,
            username: context.environment["ADAFRUIT_IO_USERNAME"],
            streams: SamplerFactory.hostStreams(),
            sensors: SamplerFactory.sensors()
        )
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL)
        let descriptor = open(path, flags, 0o644)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandError("\(path) is there already. Use --force to write over it, or --output FILE")
            }
            throw CommandError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let bytes = Array(sample.text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, 0o644) == 0 else {
            throw CommandError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
        context.log.info("wrote \(path). Set username and the key in it, then: feedbridge check")
    }

    /// The machine's name as a bridge's name: letters, digits and dashes.
    static var bridgeName: String {
        var bytes = [CChar](repeating: 0, count: 65)
        gethostname(&bytes, 64)
        let host = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let name = host.prefix { $0 != "." }.lowercased().filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        return name.isEmpty ? "feedbridge" : String(name.prefix(64))
    }
}
