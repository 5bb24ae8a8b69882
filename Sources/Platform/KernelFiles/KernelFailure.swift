internal import Glibc

/// Why a file of the kernel gave nothing.
public enum KernelFailure: Error, Hashable {
    /// It is not there, or no longer.
    case gone
    /// We may not read it.
    case noPermission
    /// The kernel has no value just now (`EAGAIN`, `ENODATA`).
    case nothing
    /// Another program has it (`EBUSY`).
    case busy
    /// Another error, by its `errno`.
    case other(Int32)

    /// Takes an `errno`.
    public init(_ code: Int32) {
        self =
            switch code {
            case ENOENT, ENODEV, ENXIO, ENOTDIR, ESTALE: .gone
            case EACCES, EPERM: .noPermission
            case EAGAIN, ENODATA, EINTR: .nothing
            case EBUSY: .busy
            default: .other(code)
            }
    }
}
