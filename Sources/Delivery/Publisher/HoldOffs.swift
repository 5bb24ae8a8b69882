public import Diagnostics

/// Times before which something may not be tried. They survive a restart.
public struct HoldOffs: Sendable, Hashable, Codable {
    /// What may not be tried.
    public enum Scope: String, Sendable, Hashable, Codable, CaseIterable {
        /// Logging in over MQTT.
        case mqtt
        /// Any REST request.
        case rest
        /// Anything at all, on either link: a ban, a data throttle, 429.
        case account
        /// Anything that needs the key: the service refused it.
        case key
    }

    /// One hold-off.
    public struct HoldOff: Sendable, Hashable, Codable {
        /// When it ends.
        public var until: BootInstant
        /// Why, by the codes of `feedbridge status`.
        public var reason: LinkReason
    }

    private(set) var all: [Scope: HoldOff] = [:]

    /// The hold-off of that scope at `now`; nil when there is none.
    public func current(_ scope: Scope, at now: BootInstant) -> HoldOff? {
        all[scope].flatMap { $0.until > now ? $0 : nil }
    }

    /// Holds off until `until`, or longer when it is held off longer already.
    mutating func hold(_ scope: Scope, until: BootInstant, _ reason: LinkReason) {
        if let known = all[scope], known.until >= until { return }
        all[scope] = HoldOff(until: until, reason: reason)
    }

    /// Ends a hold-off.
    mutating func end(_ scope: Scope) { all[scope] = nil }

    /// Removes what has ended; returns those scopes.
    mutating func advance(to now: BootInstant) -> [Scope] {
        let ended = all.filter { $0.value.until <= now }.keys
        for scope in ended { all[scope] = nil }
        return ended.sorted { $0.rawValue < $1.rawValue }
    }

    /// After a reboot the old clock is gone: what was left when it was written counts from now, at most an hour.
    mutating func restart(at now: BootInstant, writtenAt: BootInstant, isNewBoot: Bool) {
        guard isNewBoot else { return }
        for (scope, hold) in all {
            let rest = min(max(writtenAt.duration(to: hold.until), .zero), .seconds(3600))
            all[scope]?.until = now.advanced(by: rest)
        }
    }

    /// Nothing is held off.
    public init() {}
}
