public import Diagnostics

/// When to log in again. Pure: events and the time come in, the next moment comes out.
///
/// Adafruit IO bans a whole account for more than 20 log-ins a minute, so a connection that does not last is never
/// tried again at once, and there are never more than six log-ins in a minute, whatever the reasons.
public struct ReconnectPolicy: Sendable {
    /// How an attempt or a connection ended.
    public enum Ending: Sendable, Hashable {
        /// The network, the name, TLS, or the peer closing: worth trying again after the back-off.
        case failed(LinkReason)
        /// CONNACK 3 and 6: at least 60 s, doubling.
        case throttled(LinkReason)
        /// CONNACK 7, or a ban that the errors topic announced: at least 60 s, or what it said.
        case banned(Duration?)
        /// CONNACK 4 and 5: once in 15 minutes.
        case keyRefused
        /// CONNACK 1 and 2: not before the configuration changes.
        case final(LinkReason)
    }

    /// What to do next.
    public enum Decision: Sendable, Hashable {
        /// Log in at that moment.
        case attempt(at: BootInstant, LinkReason)
        /// Do not log in until the configuration changes.
        case stop(LinkReason)
    }

    static let steadyAfter = Duration.seconds(60)
    static let shortConnection = Duration.seconds(30)
    static let refusedPause = Duration.seconds(60)

    /// How long pauses are.
    public struct Pace: Sendable, Hashable {
        /// The shortest pause after a connection that failed or was short.
        public var shortest: Duration
        /// The longest one that the back-off grows to.
        public var longest: Duration
        /// The pause after a refused name or key.
        public var keyPause: Duration
        /// The most log-ins in a minute.
        public var logins: Int

        /// What Adafruit IO bans nobody for.
        public static let adafruitIO = Pace(
            shortest: .seconds(10),
            longest: .seconds(300),
            keyPause: .seconds(15 * 60),
            logins: 6
        )

        /// A broker of one's own bans nobody, and is missed sooner.
        public static let plainBroker = Pace(
            shortest: .seconds(1),
            longest: .seconds(60),
            keyPause: .seconds(60),
            logins: 60
        )
    }

    private let pace: Pace
    private var logins: RollingBudget
    private var connectedAt: BootInstant?
    private var backOff = Duration.zero
    private var refusals = 0
    private var shortConnections = 0
    /// Before that the service does not want to see us, whatever the configuration says.
    private var holdOff: BootInstant?
    private var random: any RandomNumberGenerator & Sendable

    /// Makes a policy that has not tried anything.
    public init(
        _ pace: Pace = .adafruitIO,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.pace = pace
        logins = RollingBudget(limit: pace.logins, window: .seconds(62))
        self.random = random
    }

    /// When a log-in may start at all: never more than six in a minute, and not before a hold-off has ended.
    public func earliest(at now: BootInstant) -> BootInstant {
        max(logins.nextFree(at: now) ?? now, holdOff ?? now)
    }

    /// Notes that a log-in starts.
    public mutating func attempting(at now: BootInstant) {
        logins.count(1, at: now)
        connectedAt = nil
    }

    /// Notes that the service accepted the log-in.
    public mutating func connected(at now: BootInstant) {
        connectedAt = now
    }

    /// Notes how it ended and says what to do next.
    public mutating func ended(_ ending: Ending, at now: BootInstant) -> Decision {
        let life = connectedAt.map { $0.duration(to: now) }
        connectedAt = nil
        if let life, life >= Self.steadyAfter {
            backOff = .zero
            refusals = 0
            shortConnections = 0
        }
        switch ending {
        case .final(let reason):
            return .stop(reason)
        case .keyRefused:
            return .attempt(at: now.advanced(by: pace.keyPause), .keyRefused)
        case .banned(let told):
            let pause = max(told ?? .zero, Self.refusedPause)
            holdOff = now.advanced(by: pause)
            return attempt(notBefore: pause, .banned, now)
        case .throttled(let reason):
            let pause = Self.refusedPause * (1 << min(refusals, 6))
            refusals += 1
            holdOff = now.advanced(by: pause)
            return attempt(notBefore: pause, reason, now)
        case .failed(let reason):
            return again(after: reason, life: life, now)
        }
    }

    private mutating func again(after reason: LinkReason, life: Duration?, _ now: BootInstant) -> Decision {
        if let life, life >= Self.steadyAfter { return attempt(notBefore: .zero, reason, now) }
        var shown = reason
        if let life, life < Self.shortConnection, reason == .closed {
            shortConnections += 1
            if shortConnections >= 3 { shown = .idInUse }
        } else {
            shortConnections = 0
        }
        // Decorrelated jitter: each pause lies between the shortest one and three times the last one.
        let upper = max(pace.shortest.inSeconds * 1.5, backOff.inSeconds * 3)
        let seconds = Double.random(in: pace.shortest.inSeconds...upper, using: &random)
        backOff = min(.seconds(seconds), pace.longest)
        if shown == .idInUse { backOff = max(backOff, Self.refusedPause) }
        return attempt(notBefore: backOff, shown, now)
    }

    private func attempt(notBefore pause: Duration, _ reason: LinkReason, _ now: BootInstant) -> Decision {
        let wanted = now.advanced(by: pause)
        let allowed = logins.nextFree(at: now) ?? wanted
        return .attempt(at: max(wanted, allowed), reason)
    }
}
