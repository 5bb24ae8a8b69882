internal import CMosquitto
internal import Diagnostics
internal import Glibc

/// What the connection's thread and everybody else share: commands one way, results the other.
final class ConnectionCore: Sendable {
    /// What the thread is asked to do.
    enum Command: Sendable {
        case publish(PublishGroup)
        case cancelPublish(PublishGroup)
        case subscribe(SubscribeRequest)
        case cancelSubscribe(SubscribeRequest)
        case unsubscribe(UnsubscribeRequest)
        case disconnect
        case giveUp(MQTTReason)
    }

    private struct State {
        var commands: [Command] = []
        var isWoken = false
        var hasEnded = false
        var health = MQTTHealth()
    }

    let configuration: MQTTConfiguration
    let time: any TimeSource
    /// Called on the thread before it resolves the name.
    let beforeResolving: (@Sendable () -> Void)?
    /// Nil when connected, or why not.
    let connected = OneShot<MQTTError?>()
    /// Why the connection ended, or was never there.
    let ended = OneShot<MQTTEndReason>()
    /// An eventfd: readable when commands wait.
    let wakeUp: Int32
    /// Counted before anybody is told, so that whoever was told finds it counted.
    let acknowledged = Counter()
    let received = Counter()
    let dropped = Counter()
    private let state = Guarded(State())

    init(
        _ configuration: MQTTConfiguration,
        time: any TimeSource,
        beforeResolving: (@Sendable () -> Void)?
    ) {
        self.configuration = configuration
        self.time = time
        self.beforeResolving = beforeResolving
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(wakeUp >= 0, "no descriptor left for an eventfd: \(systemErrorText(errno))")
    }

    deinit {
        close(wakeUp)
    }

    /// Leaves a command for the thread; false when the connection has ended and nobody will read it.
    func post(_ command: Command) -> Bool {
        let (isTaken, mustWake) = state.withLock { state in
            guard !state.hasEnded else { return (false, false) }
            state.commands.append(command)
            let mustWake = !state.isWoken
            state.isWoken = true
            return (true, mustWake)
        }
        if mustWake { eventfd_write(wakeUp, 1) }
        return isTaken
    }

    /// Takes all commands, for the thread.
    func takeCommands() -> [Command] {
        var count: eventfd_t = 0
        eventfd_read(wakeUp, &count)
        return state.withLock { state in
            state.isWoken = false
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    /// Whether the thread should stop: the end has been announced.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Refuses commands from now on; returns those that nobody has taken.
    func refuseCommands() -> [Command] {
        state.withLock { state in
            state.hasEnded = true
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    /// Announces the end to everybody who waits.
    func announceEnd(_ reason: MQTTEndReason) {
        connected.resolve(MQTTError(reason, while: "connecting to \(configuration.host):\(configuration.port)"))
        ended.resolve(reason)
    }

    /// Gives the thread up, which is stuck in a resolver: nobody waits for it any more.
    func abandon(_ reason: MQTTReason) {
        let commands = refuseCommands()
        announceEnd(reason)
        Self.fail(commands, reason)
    }

    /// Tells the senders of commands that nothing was done.
    static func fail(_ commands: [Command], _ reason: MQTTReason) {
        for command in commands {
            switch command {
            case .publish(let group): group.settleRest(MQTTError(reason, while: "publishing"))
            case .subscribe(let request): request.result.resolve(.failure(MQTTError(reason, while: "subscribing")))
            case .unsubscribe(let request): request.result.resolve(MQTTError(reason, while: "unsubscribing"))
            case .cancelPublish, .cancelSubscribe, .disconnect, .giveUp: break
            }
        }
    }

    /// Shows how full the queues are.
    func show(waiting: Int, inFlight: Int, oldest: BootInstant?) {
        state.withLock { state in
            state.health.waiting = waiting
            state.health.inFlight = inFlight
            state.health.oldestUnacknowledged = oldest
        }
    }

    /// The latest numbers.
    var health: MQTTHealth {
        var health = state.withLock { $0.health }
        health.acknowledged = acknowledged.value
        health.received = received.value
        health.dropped = dropped.value
        return health
    }
}

/// Someone who waits for SUBACK.
final class SubscribeRequest: Sendable {
    let filter: String
    let qos: MQTTQoS
    let buffer: MessageBuffer
    let result = OneShot<Result<MQTTQoS, MQTTError>>()

    init(filter: String, qos: MQTTQoS, buffer: MessageBuffer) {
        self.filter = filter
        self.qos = qos
        self.buffer = buffer
    }
}

/// Someone who waits for UNSUBACK.
final class UnsubscribeRequest: Sendable {
    let filter: String
    let buffer: MessageBuffer
    let result = OneShot<MQTTError?>()

    init(filter: String, buffer: MessageBuffer) {
        self.filter = filter
        self.buffer = buffer
    }
}
