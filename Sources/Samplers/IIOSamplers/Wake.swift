internal import Glibc

/// Wakes a thread that waits in `poll`. Both ends live as long as the value.
final class Wake: Sendable {
    /// Readable once somebody called `signal`.
    let descriptor: Int32
    private let end: Int32

    /// Nil when this process has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (descriptor, end) = (ends[0], ends[1])
        for each in ends { _ = fcntl(each, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(descriptor)
        close(end)
    }

    /// Wakes the thread, now or as soon as it waits; once is enough.
    func signal() {
        var byte: UInt8 = 1
        _ = write(end, &byte, 1)
    }
}
