public import Diagnostics

/// What the switch can say: record, or do not.
public enum SwitchState: String, Sendable, Codable, CaseIterable {
    /// Record.
    case on
    /// Do not record.
    case off

    /// The other one.
    public var opposite: SwitchState { self == .on ? .off : .on }
}

/// Why a session starts or ends; the raw values are the words that `sessions list --json` shows.
public enum SwitchReason: String, Sendable, Codable, CaseIterable {
    /// The control feed said so.
    case dashboard
    /// A local command, or `on_start`.
    case command
    /// A schedule.
    case schedule
    /// The longest session or the smallest free space was reached.
    case limit
    /// An alert's action.
    case alert
    /// It could not start, or could not go on.
    case error
}

/// What somebody at this machine asks for.
public enum SwitchCommand: String, Sendable, CaseIterable {
    /// Start recording.
    case start
    /// Stop recording.
    case stop
    /// Do the other thing.
    case toggle
}

/// The way to the control feed that is in use.
public enum SwitchLink: Sendable, Hashable {
    /// Values are pushed to us.
    case mqtt
    /// Values are polled.
    case rest
}

/// A moment on both clocks: the wall clock for comparing with the service, the boot-time clock for intervals.
public struct SwitchMoment: Sendable, Hashable {
    /// The wall clock.
    public var wall: Timestamp
    /// The boot-time clock.
    public var boot: BootInstant

    /// Makes a moment.
    public init(wall: Timestamp, boot: BootInstant) {
        self.wall = wall
        self.boot = boot
    }

    /// What `time` shows now.
    public init(_ time: some TimeSource) {
        self.init(wall: time.wall(), boot: time.boot())
    }
}
