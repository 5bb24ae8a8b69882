internal import Glibc

/// A file system of a few megabytes of its own; it goes away with the value. Only root may make one.
public final class SmallDisk: Sendable {
    /// The folder on which it is mounted.
    public let folder: TemporaryDirectory

    /// Mounts a file system of `bytes` in a new folder; nil when that is not allowed.
    public init?(bytes: Int) {
        folder = TemporaryDirectory()
        guard mount("none", folder.path, "tmpfs", 0, "size=\(bytes),mode=0700") == 0 else { return nil }
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    /// Whether this process may make one.
    public static let canMount = geteuid() == 0 && SmallDisk(bytes: 1 << 20) != nil

    /// Why a test does not run where none can be made.
    public static let cannot = "NOT TESTED: needs the right to mount a small tmpfs (run the tests as root)"

    /// Fills it to the last byte with the file `ballast`.
    public func fill() {
        let descriptor = open(folder.file("ballast"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        for size in [4096, 1] {
            let block = [UInt8](repeating: 1, count: size)
            while write(descriptor, block, size) == size {}
        }
    }

    /// Removes the ballast.
    public func makeRoom() {
        unlink(folder.file("ballast"))
    }

    /// Mounts it again, to be read only or to be written; false when the kernel says no, as while a file is open.
    public func remount(readOnly: Bool) -> Bool {
        mount("none", folder.path, "tmpfs", UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0), nil) == 0
    }
}
