internal import Diagnostics

/// What the switch keeps across restarts.
public struct SwitchMemory: Sendable, Hashable, Codable {
    /// What was wanted last.
    public var wanted: SwitchState
    /// Why.
    public var reason: SwitchReason
    /// Since when, in nanoseconds since 1970; nil before anything was wanted.
    public var since: Int64?
    /// The newest value of the feed that was followed, when its time is known.
    public var followed: Followed?
    /// What was decided here and is not yet known to stand on the feed.
    public var pending: Pending?

    /// A value of the feed with its time.
    public struct Followed: Sendable, Hashable, Codable {
        /// What it meant.
        public var state: SwitchState
        /// The service's time of it, in nanoseconds since 1970.
        public var createdAt: Int64
    }

    /// A decision that was made here, not on the feed.
    public struct Pending: Sendable, Hashable, Codable {
        /// What was decided.
        public var state: SwitchState
        /// When, by this machine's wall clock, in nanoseconds since 1970.
        public var wall: Int64
        /// When, in nanoseconds since boot: right even if the wall clock has been set since.
        public var boot: Int64
        /// The boot that `boot` counts from.
        public var bootID: String
    }

    /// What a first run starts with: off.
    public init() {
        wanted = .off
        reason = .command
    }
}

extension SwitchMemory.Pending {
    init(_ state: SwitchState, at now: SwitchMoment, bootID: String) {
        self.state = state
        wall = now.wall.nanoseconds
        boot = now.boot.nanoseconds
        self.bootID = bootID
    }

    /// Whether it was decided in this boot and after `instant`.
    func wasMade(after instant: BootInstant, bootID: String) -> Bool {
        bootID == self.bootID && boot > instant.nanoseconds
    }

    /// When it was decided, on the wall clock as it stands now.
    func wallTime(_ now: SwitchMoment, bootID: String) -> Timestamp {
        guard !bootID.isEmpty, bootID == self.bootID else { return Timestamp(nanoseconds: wall) }
        return now.wall - BootInstant(nanoseconds: boot).duration(to: now.boot)
    }
}
