internal import Diagnostics
internal import Glibc

/// `feedbridge run`: samples, records and publishes until it is stopped.
public struct RunCommand: Command {
    /// Makes the command.
    public init() {}

    /// Checks everything first; then runs until SIGTERM or SIGINT.
    public func run(_ context: CommandContext) async throws {
        // A crash leaves no image of the memory on the disk: the key would be in it.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        let configuration = try context.configuration()
        let key = try ConfigurationFile.key(for: configuration, environment: context.environment)
        let directory = try StateDirectory(configuration, environment: context.environment)
        let time = SystemTime()
        let samplers = try SamplerFactory.make(configuration, time: time)
        try directory.make(configurationFile: configuration.file)
        let lock = try DirectoryLock(directory, configurationFile: configuration.file)
        let service = try await BridgeService(
            configuration,
            key: key,
            directory: directory,
            environment: context.environment,
            time: time,
            log: context.log
        )
        let running = Task { try await service.run(samplers) }
        let signals = Signals(log: context.log) {
            running.cancel()
        } reload: {
            Task { await service.reload() }
        }
        defer { signals.stop() }
        try await running.value
        _ = consume lock
    }
}
