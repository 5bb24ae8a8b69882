internal import Glibc

/// The lock that makes one process a file's only writer. It ends with the process, however that ends.
///
/// An "open file description" lock (fcntl(2), F_OFD_SETLK): it can be asked about without being taken, and another
/// descriptor of the same file in this process does not release it.
public final class WriterLock: Sendable {
    /// Why the lock was not taken.
    public enum Failure: Error, Sendable, Hashable {
        /// Another process has it; its process id, if known.
        case held(process: Int?)
        /// The lock file could not be used.
        case file(FileFailure)
    }

    private let descriptor: Int32

    // Values of the Linux ABI (asm-generic/fcntl.h); glibc shows them only under _GNU_SOURCE.
    private static let get: Int32 = 36
    private static let set: Int32 = 37

    /// Takes the lock on the file at `path`, which is made when it is absent.
    public init(path: String) throws(Failure) {
        // Stored only when the lock is ours: an initialiser that throws with all properties set runs deinit, which would
        // close the number a second time, when it may be another file's already.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(FileFailure(action: "open", path: path, code: errno)) }
        var lock = WriterLock.whole()
        guard fcntl(descriptor, WriterLock.set, &lock) == 0 else {
            let code = errno
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            close(descriptor)
            guard code == EAGAIN || code == EACCES else {
                throw .file(FileFailure(action: "lock", path: path, code: code))
            }
            let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
            throw .held(process: Int(text.prefix { $0.isNumber }))
        }
        // For the sentence that another process says; the lock does not depend on it.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { pwrite(descriptor, text, text.count, 0) }
        self.descriptor = descriptor
    }

    deinit {
        // Given back, and not only closed: a child that is being started has a copy of the descriptor for a moment.
        var lock = WriterLock.whole()
        lock.l_type = Int16(F_UNLCK)
        _ = fcntl(descriptor, WriterLock.set, &lock)
        close(descriptor)
    }

    /// Whether some process holds the lock at `path`.
    public static func isHeld(path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var lock = whole()
        guard fcntl(descriptor, get, &lock) == 0 else { return false }
        return Int32(lock.l_type) != F_UNLCK
    }

    private static func whole() -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }
}
