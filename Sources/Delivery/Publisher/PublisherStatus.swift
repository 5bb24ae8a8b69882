public import Diagnostics

/// How delivery is doing, for `feedbridge status`.
public struct PublisherStatus: Sendable, Hashable {
    /// The link that carries what is live; nil: none.
    public var link: PublisherLink?
    /// Why MQTT, or the account, is as it is.
    public var reason: LinkReason
    /// When what is down is tried again; nil when nothing is down, or not before the configuration changes.
    public var nextTry: BootInstant?
    /// Nothing is sent on either link before that moment.
    public var heldUntil: BootInstant?
    /// Our data points a minute; nil: there is no limit.
    public var limit: Int?
    /// Our data points in the last minute.
    public var used: Int
    /// Data points that may still be sent now.
    public var left: Int?
    /// Points that wait and are not live.
    public var backlog: Int
    /// How long the backlog takes at the pace of now; nil while nothing is drained.
    public var drainTime: Duration?
    /// Points that may be on the service twice.
    public var doubt: Int
    /// How the rules are slowed down; nil when they are not.
    public var stretch: IntervalStretch?
}

extension PublisherStateMachine {
    /// How delivery is doing, as of the last event.
    public var status: PublisherStatus {
        let held = [HoldOffs.Scope.account, .key].compactMap { memory.holds.current($0, at: now) }
            .max { $0.until < $1.until }
        let isUp = mqtt.phase == .up
        return PublisherStatus(
            link: used,
            reason: held?.reason ?? (isUp ? .ok : mqtt.reason),
            nextTry: isUp ? held?.until : mqttTry ?? (mqtt.phase == .stopped ? nil : held?.until),
            heldUntil: held?.until,
            limit: memory.budget.limit,
            used: memory.budget.ours.used,
            left: memory.budget.plan == nil ? nil : memory.budget.leftForOwn,
            backlog: backlogCount,
            drainTime: drainTime,
            doubt: doubts,
            stretch: stretch.intervals.isEmpty ? nil : stretch
        )
    }
}
