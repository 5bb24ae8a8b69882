public import Diagnostics

/// The machine's time, so many times as fast: what takes minutes passes in seconds, in all parts alike.
public final class FastTime: TimeSource {
    private let real = SystemTime()
    private let factor: Int
    private let wallAtStart: Timestamp
    private let bootAtStart: BootInstant

    /// Starts at the machine's time.
    public init(factor: Int) {
        self.factor = factor
        wallAtStart = real.wall()
        bootAtStart = real.boot()
    }

    /// The wall clock, as fast as the other one, which alone it follows.
    public func wall() -> Timestamp { wallAtStart + passed }

    /// The boot-time clock.
    public func boot() -> BootInstant { bootAtStart.advanced(by: passed) }

    /// Waits until this clock shows `deadline`.
    public func sleep(until deadline: BootInstant) async throws {
        try await real.sleep(for: boot().duration(to: deadline) / factor)
    }

    private var passed: Duration { bootAtStart.duration(to: real.boot()) * factor }
}
