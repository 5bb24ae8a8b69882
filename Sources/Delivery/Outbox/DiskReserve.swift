internal import Glibc
internal import SQLite

/// Bytes kept aside on the disk, so that the outbox can still shrink when others have filled it.
struct DiskReserve {
    let path: String
    let bytes: Int

    /// Whether the bytes are kept aside.
    var isHeld: Bool {
        var status = stat()
        return stat(path, &status) == 0 && Int(status.st_blocks) * 512 >= bytes
    }

    /// Keeps the bytes aside; false when the disk has no room for them.
    func hold() -> Bool {
        guard bytes > 0 else { return true }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard posix_fallocate(descriptor, 0, off_t(bytes)) == 0 else {
            unlink(path)
            return false
        }
        return true
    }

    /// Gives the bytes free.
    func release() {
        unlink(path)
    }
}
