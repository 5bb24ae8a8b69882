internal import FoundationEssentials
internal import Glibc

/// Where a part gets its time from: the machine's clocks in the program, a clock moved by hand in tests.
public protocol TimeSource: Sendable {
    /// The wall clock. It may step, in both directions, and may be plainly wrong after a boot.
    func wall() -> Timestamp

    /// The boot-time clock, which no step of the wall clock moves.
    func boot() -> BootInstant

    /// Waits until the boot-time clock shows `deadline`; throws `CancellationError` when the task is cancelled.
    func sleep(until deadline: BootInstant) async throws
}

extension TimeSource {
    /// Waits for `duration` on the boot-time clock.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: boot().advanced(by: duration))
    }
}

/// The clocks of this machine.
public struct SystemTime: TimeSource {
    /// Makes the machine's time.
    public init() {}

    /// `CLOCK_REALTIME`.
    public func wall() -> Timestamp { Timestamp(nanoseconds: read(CLOCK_REALTIME)) }

    /// `CLOCK_BOOTTIME`.
    public func boot() -> BootInstant { BootInstant(nanoseconds: read(CLOCK_BOOTTIME)) }

    /// Waits on Swift's continuous clock, which is `CLOCK_BOOTTIME` on Linux.
    public func sleep(until deadline: BootInstant) async throws {
        let rest = boot().duration(to: deadline)
        try await ContinuousClock().sleep(for: max(rest, .zero))
    }

    private func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// The kernel's id of this boot, which tells whether two boot-time instants can be compared.
public enum BootID {
    /// The id of the running boot; empty when the kernel does not tell it.
    public static let current: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.map { String($0.prefix { !$0.isNewline }) } ?? ""
    }()
}
