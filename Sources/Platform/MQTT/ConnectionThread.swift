internal import Diagnostics

/// The life of a connection's thread: one handle after the other until one connects, then that one to its end.
enum ConnectionThread {
    /// How an attempt ended.
    struct Ending {
        var reason: MQTTReason
        /// There was an address to try.
        var hadSocket = false
        /// It failed before any byte was sent, towards an IPv6 address: IPv4 may do better.
        var mayTryIPv4 = false
    }

    static func start(_ core: ConnectionCore) {
        OwnThread.start(name: "mqtt") { run(core) }
    }

    private static func run(_ core: ConnectionCore) {
        let traffic = Traffic(window: core.configuration.inFlightWindow)
        let end = core.time.boot().advanced(by: core.configuration.connectTimeout)
        // The library tries one address only when it does not block, the resolver's first: often IPv6, where a broker may
        // not listen or a router may lead nowhere. The second attempt, bound to IPv4, has the library skip the others.
        var ending = attempt(core, traffic, from: nil, until: end)
        if ending.mayTryIPv4, !core.hasEnded, core.time.boot() < end {
            let second = attempt(core, traffic, from: "0.0.0.0", until: end)
            if second.hadSocket || second.reason == .cancelled { ending = second }
        }
        // Both handles are gone by now: whatever was in flight will not be sent by anybody else.
        let commands = core.refuseCommands()
        core.announceEnd(ending.reason)
        traffic.end(ending.reason)
        ConnectionCore.fail(commands, ending.reason)
    }

    private static func attempt(
        _ core: ConnectionCore,
        _ traffic: Traffic,
        from local: String?,
        until end: BootInstant
    ) -> Ending {
        do throws(MQTTError) {
            return try ConnectionLoop(core, traffic, connectBy: end).run(from: local)
        } catch {
            return Ending(reason: error.reason)
        }
    }
}

/// What goes through a connection; used by its thread only.
final class Traffic {
    var publishes: PublishQueue
    var subscriptions = SubscriptionTable()

    init(window: Int) {
        publishes = PublishQueue(window: window)
    }

    /// Tells everybody who waits that it is over.
    func end(_ reason: MQTTReason) {
        let (handed, unsent) = publishes.drain()
        for message in handed {
            guard let group = message.group else { continue }
            let action = "publishing to \(group.messages[message.index].topic)"
            group.settle(message.index, MQTTError(reason, while: action, isUnknown: true))
        }
        for (group, next) in unsent {
            group.settleRest(from: next, MQTTError(reason, while: "publishing"))
        }
        subscriptions.end(reason)
    }
}
