/// A moment of the boot-time clock: nanoseconds since this machine started, suspended time included.
///
/// No step of the wall clock moves it, so intervals, budgets and timers use it (`CLOCK_BOOTTIME`). It means something
/// only together with the boot id.
public struct BootInstant: Sendable, Hashable, Comparable, InstantProtocol {
    /// Nanoseconds since boot.
    public var nanoseconds: Int64

    /// Makes an instant from nanoseconds since boot.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Whether `left` is earlier than `right`.
    public static func < (left: BootInstant, right: BootInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The instant `duration` later.
    public func advanced(by duration: Duration) -> BootInstant {
        BootInstant(nanoseconds: nanoseconds &+ duration.nanoseconds)
    }

    /// The time from here to `other`; negative when `other` is earlier.
    public func duration(to other: BootInstant) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }
}

/// Stored as its nanoseconds; it means something only together with the boot id.
extension BootInstant: Codable {
    /// Reads the nanoseconds.
    public init(from decoder: any Decoder) throws {
        self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the nanoseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}
