public import Diagnostics

/// How a link is doing, for `feedbridge status`.
public struct LinkState: Sendable, Hashable {
    /// Whether it is up.
    public var isUp = false
    /// Why it is as it is.
    public var reason = LinkReason.starting
    /// One sentence for a person.
    public var message = "not tried yet"
    /// When it is tried again; nil when it is up, or not tried before the configuration changes.
    public var nextTry: BootInstant?
    /// When it came up.
    public var upSince: BootInstant?
    /// Nothing may be sent before that moment, because the service said so.
    public var holdUntil: BootInstant?

    /// Not tried yet.
    public init() {}
}

/// What a link tells the bridge.
public enum LinkEvent: Sendable, Hashable {
    /// Connected and subscribed.
    case up
    /// Not connected any more, or the attempt failed.
    case down(LinkReason)
    /// A value of the control feed: a live one, or the answer to asking for it.
    case control(String)
}
