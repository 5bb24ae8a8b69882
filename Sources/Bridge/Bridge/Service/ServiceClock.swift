internal import Diagnostics

/// The service's clock as its answers told it, good to a second or two; it goes on by the boot-time clock.
struct ServiceClock: Sendable {
    private let time: Timestamp
    private let boot: BootInstant

    /// The service's clock shows `time` at `boot`.
    init(time: Timestamp, at boot: BootInstant) {
        self.time = time
        self.boot = boot
    }

    /// What it shows at `now`.
    func time(at now: BootInstant) -> Timestamp { time + boot.duration(to: now) }
}
