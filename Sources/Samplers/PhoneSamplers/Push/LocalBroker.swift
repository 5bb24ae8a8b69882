public import Diagnostics
internal import FastJSON
public import MQTT

/// The connection to the broker at home: gives messages to the samplers whose topics they are for, and publishes.
///
/// It connects again for ever, a second after the first loss and at most a minute after later ones. A message is taken
/// without a receipt: MQTT's own acknowledgement comes from the library.
public actor LocalBroker {
    private let configuration: MQTTConfiguration
    private let samplers: [PushSampler]
    private let time: any TimeSource
    private let log: Log
    private var connection: MQTTConnection?
    private static let longestPause = Duration.seconds(60)
    /// So many messages of a topic may wait; what comes beyond is dropped and counted.
    private static let buffer = 1000

    /// Makes a reader for the topics of `samplers`; it connects when it runs.
    public init(
        _ configuration: MQTTConfiguration,
        samplers: [PushSampler],
        time: any TimeSource = SystemTime(),
        log: Log
    ) {
        self.configuration = configuration
        self.samplers = samplers
        self.time = time
        self.log = log
    }

    /// Whether it is connected now.
    public var isConnected: Bool { connection != nil }

    /// Connects and reads until the task is cancelled.
    public func run() async {
        var pause = Duration.seconds(1)
        var isToldToBeDown = false
        while !Task.isCancelled {
            do throws(MQTTError) {
                let connection = try await MQTTConnection.connect(configuration, time: time)
                let start = time.boot()
                log.info("the local broker \(configuration.host):\(configuration.port) is there")
                isToldToBeDown = false
                await serve(connection)
                if start.duration(to: time.boot()) >= Self.longestPause { pause = .seconds(1) }
                if !Task.isCancelled { log.warning("the local broker is gone; it is tried again") }
            } catch {
                if !isToldToBeDown, !Task.isCancelled { log.warning("the local broker: \(error)") }
                isToldToBeDown = true
            }
            guard (try? await time.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Publishes a text; nil when the broker has it, else why not. What cannot be sent now is not kept.
    public func publish(_ text: String, to topic: String, retain: Bool) async -> String? {
        guard let connection else { return "the local broker is not there" }
        do {
            try await connection.publish(Array(text.utf8), to: topic, qos: .atLeastOnce, retain: retain)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func serve(_ connection: MQTTConnection) async {
        self.connection = connection
        await withTaskGroup(of: Void.self) { group in
            for sampler in samplers {
                for topic in sampler.configuration.topics {
                    group.addTask { await self.read(topic, for: sampler, from: connection) }
                }
            }
            group.addTask { _ = await connection.endedUnlessCancelled() }
            if samplers.allSatisfy(\.configuration.topics.isEmpty) {
                await group.next()
            } else {
                await group.waitForAll()
            }
        }
        self.connection = nil
        await connection.disconnect()
    }

    private func read(_ topic: String, for sampler: PushSampler, from connection: MQTTConnection) async {
        let subscription: MQTTSubscription
        do {
            subscription = try await connection.subscribe(
                to: topic,
                qos: .atLeastOnce,
                buffer: .all(upTo: Self.buffer)
            )
        } catch {
            log.warning("the local broker: \(error)")
            return
        }
        var dropped = 0
        for await message in subscription.messages {
            if subscription.dropped > dropped {
                await sampler.countDropped(subscription.dropped - dropped, topic: topic)
                dropped = subscription.dropped
            }
            let push = PushMessage(
                body: message.payload,
                topic: message.topic,
                isRetained: message.retain,
                wantsReceipt: false,
                arrival: time.boot(),
                wall: time.wall()
            )
            // What is not taken has been counted.
            guard let reply = try? await sampler.take(push), sampler.kind == "owntracks" else { continue }
            await command(reply, from: message.topic)
        }
    }

    /// OwnTracks' commands go to the device's own topic.
    private func command(_ reply: PushReply, from topic: String) async {
        let base = topic.split(separator: "/").prefix(3).joined(separator: "/")
        guard let commands = (try? JSON.parse(reply.body))?.array else { return }
        for command in commands {
            if let why = await publish(command.serialized(), to: "\(base)/cmd", retain: false) {
                log.warning("\(base) was not asked for its steps: \(why)")
            }
        }
    }
}
