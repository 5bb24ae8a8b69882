public import Diagnostics

/// What can happen to the switch.
public enum SwitchEvent: Sendable, Hashable {
    /// The program runs; once, before all others.
    case launched
    /// The feed can be reached: over MQTT the subscription is granted, over REST requests may be sent.
    case connected(SwitchLink)
    /// The feed cannot be reached; what was sent and not confirmed may or may not have arrived.
    case disconnected
    /// A value came over MQTT; `retained` is the flag of the message.
    case arrived(String, retained: Bool)
    /// The answer to `SwitchAction.read`: the newest value, its time, and the service's clock minus ours, if known.
    case last(String, createdAt: Timestamp?, clockOffset: Duration?, read: Int)
    /// The answer to `SwitchAction.read`: the feed holds nothing (404).
    case empty(read: Int)
    /// No answer to `SwitchAction.read`.
    case readFailed(read: Int)
    /// The service stored a write that went by REST. Over MQTT the echo says so.
    case written(createdAt: Timestamp?, write: Int)
    /// A write failed, or its answer was lost.
    case writeFailed(write: Int)
    /// Somebody at this machine said so.
    case command(SwitchCommand)
    /// A schedule said so.
    case schedule(SwitchState)
    /// An alert said so.
    case alert(SwitchState)
    /// The session is too long or the disk too full.
    case limitReached
    /// Recording has started, as session `session`.
    case started(session: String)
    /// Recording could not start; why, in words for the status feed.
    case startFailed(String)
    /// Recording has stopped, as asked.
    case stopped
    /// Recording has stopped without being asked; why, in words for the status feed.
    case broke(String)
    /// `SwitchStateMachine.deadline` has come.
    case tick
}

/// What the switch wants done.
public enum SwitchAction: Sendable, Hashable {
    /// Keep this across restarts; comes before what depends on it.
    case remember(SwitchMemory)
    /// Start recording; `started` or `startFailed` answers.
    case start(SwitchReason)
    /// Stop recording; `stopped` answers.
    case stop(SwitchReason)
    /// Write this to the control feed now or not at all; over REST `written` or `writeFailed` answers.
    case write(String, write: Int)
    /// Write this to the status feed now or not at all.
    case tell(String)
    /// Ask for the control feed's value over MQTT.
    case ask
    /// Read the control feed's newest value by REST; `last`, `empty` or `readFailed` answers.
    case read(Int)
}
