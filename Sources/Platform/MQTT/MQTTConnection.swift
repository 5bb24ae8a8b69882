public import Diagnostics

/// One connection to a broker, from its log-in to its end. It does not reconnect: whoever calls decides about that.
///
/// A thread of its own owns the library's handle; nothing here blocks the caller's thread. A connection that nobody holds
/// any more says goodbye.
public final class MQTTConnection: Sendable {
    private let core: ConnectionCore

    private init(_ core: ConnectionCore) {
        self.core = core
    }

    deinit {
        _ = core.post(.disconnect)
    }

    /// Connects and logs in; throws the reason when the broker cannot be reached or does not want us.
    ///
    /// A cancelled attempt returns at once, or after 2 s when it is stuck in a resolver: its thread is then given up.
    public static func connect(
        _ configuration: MQTTConfiguration,
        time: any TimeSource = SystemTime()
    ) async throws(MQTTError) -> MQTTConnection {
        try await connect(configuration, time: time, beforeResolving: nil)
    }

    /// `beforeResolving` runs on the connection's thread, where a resolver would block.
    static func connect(
        _ configuration: MQTTConfiguration,
        time: any TimeSource,
        beforeResolving: (@Sendable () -> Void)?
    ) async throws(MQTTError) -> MQTTConnection {
        try configuration.validate()
        let action = "connecting to \(configuration.host):\(configuration.port)"
        guard !Task.isCancelled else { throw MQTTError(.cancelled, while: action) }
        let core = ConnectionCore(configuration, time: time, beforeResolving: beforeResolving)
        ConnectionThread.start(core)
        // The thread keeps the time itself, unless the resolver holds it.
        let watch = abandon(core, .timedOut, after: configuration.connectTimeout + patience)
        defer { watch.cancel() }
        let error = await withTaskCancellationHandler {
            await core.connected.value
        } onCancel: {
            if core.post(.giveUp(.cancelled)) { _ = abandon(core, .cancelled, after: patience) }
        }
        if let error { throw error }
        return MQTTConnection(core)
    }

    /// How long a thread may take to obey before it is given up.
    private static let patience: Duration = .seconds(2)

    private static func abandon(_ core: ConnectionCore, _ reason: MQTTReason, after wait: Duration) -> Task<Void, Never>
    {
        let watch = Task {
            guard (try? await core.time.sleep(for: wait)) != nil, core.connected.current == nil else { return }
            core.abandon(reason)
        }
        return watch
    }

    // MARK: Publish

    /// Sends a message and waits until its promise is kept: for QoS 1 until PUBACK, for QoS 0 until the kernel has it.
    ///
    /// A cancelled publish that the library already has is unknown (`isUnknown`), not unsent.
    public func publish(
        _ payload: [UInt8],
        to topic: String,
        qos: MQTTQoS = .atLeastOnce,
        retain: Bool = false
    ) async throws(MQTTError) {
        let message = MQTTPublication(topic: topic, payload: payload, qos: qos, retain: retain)
        if let error = await publish([message]).first ?? nil { throw error }
    }

    /// Sends many messages in this order and waits for all; for each message nil, or why not.
    public func publish(_ messages: [MQTTPublication]) async -> [MQTTError?] {
        let group = PublishGroup(messages, problem: Self.problem(with:))
        return await withTaskCancellationHandler {
            if !core.post(.publish(group)) {
                group.settleRest(MQTTError(.notConnected, while: "publishing"))
            }
            return await group.errors
        } onCancel: {
            group.markCancelled()
            _ = core.post(.cancelPublish(group))
        }
    }

    /// Hands many messages over, in this order and behind all that was handed over before, and returns at once.
    ///
    /// Tasks that publish side by side start in no certain order; calls of this from one place keep theirs.
    public func submit(_ messages: [MQTTPublication]) -> MQTTSubmission {
        let group = PublishGroup(messages, problem: Self.problem(with:))
        if !core.post(.publish(group)) { group.settleRest(MQTTError(.notConnected, while: "publishing")) }
        return MQTTSubmission(group: group)
    }

    private static func problem(with message: MQTTPublication) -> MQTTError? {
        guard MQTTTopic.isName(message.topic) else {
            return MQTTError(.invalidTopic(message.topic), while: "publishing")
        }
        // 256 MB less one byte is MQTT's limit for all that follows the fixed header: topic, id and payload.
        let limit = 268_435_455 - 5 - message.topic.utf8.count
        guard message.payload.count <= limit else {
            return MQTTError(.payloadTooLarge, while: "publishing to \(message.topic)")
        }
        return nil
    }

    // MARK: Subscribe

    /// Subscribes, and returns once the broker has granted it. No message between the grant and the first read is lost.
    ///
    /// Where filters overlap, brokers may send a message once for each of them; every subscription that it matches then
    /// gets it as often.
    public func subscribe(
        to filter: String,
        qos: MQTTQoS,
        buffer policy: MQTTBuffer
    ) async throws(MQTTError) -> MQTTSubscription {
        let action = "subscribing to \(filter)"
        guard MQTTTopic.isFilter(filter) else { throw MQTTError(.invalidTopic(filter), while: "subscribing") }
        let request = SubscribeRequest(filter: filter, qos: qos, buffer: MessageBuffer(policy))
        let result = await withTaskCancellationHandler {
            if Task.isCancelled {
                request.result.resolve(.failure(MQTTError(.cancelled, while: action)))
            } else if !core.post(.subscribe(request)) {
                request.result.resolve(.failure(MQTTError(.notConnected, while: action)))
            }
            return await request.result.value
        } onCancel: {
            _ = core.post(.cancelSubscribe(request))
        }
        return MQTTSubscription(filter: filter, grantedQoS: try result.get(), buffer: request.buffer)
    }

    /// Ends a subscription: its messages come to an end, and the broker is told when nobody else here reads its filter.
    public func unsubscribe(_ subscription: MQTTSubscription) async throws(MQTTError) {
        let request = UnsubscribeRequest(filter: subscription.filter, buffer: subscription.buffer)
        guard core.post(.unsubscribe(request)) else {
            throw MQTTError(.notConnected, while: "unsubscribing from \(subscription.filter)")
        }
        if let error = await request.result.value { throw error }
    }

    // MARK: End

    /// Says goodbye and waits for the end, at most 2 s. What the broker has not acknowledged by then is unknown.
    public func disconnect() async {
        guard core.post(.disconnect) else { return }
        let watch = Task { [core] in
            guard (try? await core.time.sleep(for: Self.patience)) != nil else { return }
            core.abandon(.disconnected)
        }
        _ = await core.ended.value
        watch.cancel()
    }

    /// Waits for the end of the connection and says why. It waits on when the task is cancelled.
    public var ended: MQTTEndReason {
        get async { await core.ended.value }
    }

    /// Waits for the end of the connection and says why; nil when the task is cancelled first.
    public func endedUnlessCancelled() async -> MQTTEndReason? {
        await core.ended.valueUnlessCancelled()
    }

    /// Why the connection ended; nil while it lasts.
    public var endReason: MQTTEndReason? { core.ended.current }

    /// How it is doing.
    public var health: MQTTHealth { core.health }

    /// When the oldest unacknowledged message was handed over; nil when all are acknowledged.
    public var oldestUnacknowledged: BootInstant? { core.health.oldestUnacknowledged }
}
