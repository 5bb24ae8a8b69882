internal import Glibc

/// Keeps a second bridge out of a state directory. The kernel frees it when the process ends, however it ends.
struct DirectoryLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock, or throws a sentence that names who has it.
    init(_ directory: StateDirectory, configurationFile: String) throws(ConfigurationError) {
        let path = directory.file("lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Self.problem(configurationFile, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
            close(descriptor)
            let owner = String(decoding: bytes.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
            throw Self.problem(
                configurationFile,
                "another feedbridge (process \(owner)) already runs on the state directory \(directory.path). Stop it, or give this one its own state"
            )
        }
        self.descriptor = descriptor
        let text = "\(getpid())\n"
        ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit {
        // Given back, and not only closed: a child that is being started has a copy of the descriptor for a moment.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func problem(_ file: String, _ text: String) -> ConfigurationError {
        ConfigurationError(problems: [ConfigurationProblem(file: file, line: 0, column: 0, text: text)])
    }
}
