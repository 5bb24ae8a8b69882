public import Diagnostics
public import Samples
public import SecretBox

/// A source that sends by itself. It takes messages while it runs, and answers when what they say is on the disk.
///
/// It owns no listener: `PushRoutes` and the local broker's reader give it what came. Decoding has a thread of its own.
public actor PushSampler: Sampler {
    /// The `kind` of its table.
    public nonisolated let kind: String
    /// The streams that it is known to produce; some sources add others, within limits.
    public nonisolated let streams: [Samples.Stream]
    /// What it was made of.
    public nonisolated let configuration: PushConfiguration

    private nonisolated let executor: BlockingExecutor
    private let time: any TimeSource
    private var decoder: any PushDecoder
    private var seen = RecentKeys()
    /// Keys of what is being stored: the same thing again waits for the outcome.
    private var pending: Set<UInt64> = []
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var sink: (any SampleSink)?
    private var newest: [Name: SensorReading] = [:]

    /// The executor with a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a sampler; `reserved` are the streams of others, which no name from outside may take, and `box` opens
    /// encrypted messages.
    public init(
        _ configuration: PushConfiguration,
        reserved: Set<Name> = [],
        box: SecretBox? = nil,
        time: any TimeSource = SystemTime()
    ) {
        self.configuration = configuration
        self.time = time
        kind = configuration.app.kind
        executor = BlockingExecutor(label: "feedbridge.\(kind)")
        let made = configuration.makeDecoder(reserved: reserved, box: box)
        decoder = made.decoder
        streams = made.streams
    }

    /// Takes messages until the task is cancelled.
    public func run(into sink: any SampleSink) async throws {
        self.sink = sink
        defer { self.sink = nil }
        while true { try await time.sleep(for: .seconds(86_400)) }
    }

    /// Whether it takes messages now.
    public var isRunning: Bool { sink != nil }

    /// How many messages wait for the outcome of another that says the same.
    var waiting: Int { waiters.count }

    /// The newest sample of every stream that has come since the start.
    public func readings() async -> [SensorReading] {
        let known = streams.map { stream in
            newest[stream.name]
                ?? SensorReading(stream: stream, values: stream.fields.map { _ in .missing }, condition: .silent)
        }
        let names = Set(streams.map(\.name))
        return known
            + newest.values.filter { !names.contains($0.stream.name) }.sorted { $0.stream.name < $1.stream.name }
    }

    /// Takes a message and returns what to answer, once all that it says is stored.
    public func take(_ message: PushMessage) async throws(PushRefusal) -> PushReply {
        guard let sink else { throw PushRefusal(503, "The bridge is starting.", retryAfter: .seconds(5)) }
        if configuration.whenOff == .refuse, !sink.isRecording {
            throw PushRefusal(503, "Nothing is recorded now: the switch is off.", retryAfter: .seconds(60))
        }
        let (gathering, reply) = try await decode(message, sink)
        pending.formUnion(gathering.keys)
        defer {
            pending.subtract(gathering.keys)
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        for (stream, count) in gathering.duplicates { sink.skip(count, of: stream) }
        for reject in gathering.rejects { sink.reject(reject.count, of: reject.stream, example: reject.example) }
        guard !gathering.batches.isEmpty else { return reply }
        do {
            try await sink.store(
                gathering.batches,
                keepOutside: configuration.whenOff == .keep,
                durably: message.wantsReceipt
            )
        } catch {
            throw PushRefusal(503, "It could not be stored: \(error)", retryAfter: .seconds(30))
        }
        for key in gathering.keys { seen.insert(key) }
        for batch in gathering.batches { remember(batch) }
        return reply
    }

    /// Counts messages that came faster than they were taken.
    func countDropped(_ count: Int, topic: String) {
        sink?.reject(count, of: Name(mapping: kind), example: "\(topic) comes faster than it is taken")
    }

    private func decode(
        _ message: PushMessage,
        _ sink: any SampleSink
    ) async throws(PushRefusal) -> (SampleGathering, PushReply) {
        while true {
            var gathering = SampleGathering(message, seen: seen)
            do throws(PushRefusal) {
                let reply = try decoder.decode(message, into: &gathering)
                guard gathering.keys.isDisjoint(with: pending) else {
                    await withCheckedContinuation { waiters.append($0) }
                    continue
                }
                gathering.finish()
                return (gathering, reply)
            } catch {
                sink.reject(1, of: Name(mapping: kind), example: error.description)
                throw error
            }
        }
    }

    private func remember(_ batch: SampleBatch) {
        guard batch.count > 0, newest.count < StreamAdmission.mostStreams || newest[batch.stream.name] != nil else {
            return
        }
        let values = Array(batch.sample(batch.count - 1))
        newest[batch.stream.name] = SensorReading(stream: batch.stream, values: values, condition: .ok)
    }
}

extension PushConfiguration {
    private var isNameInStreams: Bool {
        switch app {
        case .json, .mqtt: false
        case .sensorLogger, .ownTracks, .overland: true
        }
    }

    /// The decoder for the app, and the streams that it is known to make.
    func makeDecoder(reserved: Set<Name>, box: SecretBox?) -> (decoder: any PushDecoder, streams: [Samples.Stream]) {
        let naming = StreamNaming(suffix: isNameInStreams ? name : nil)
        switch app {
        case .sensorLogger(let platform, let standard):
            let decoder = SensorLoggerDecoder(
                platform: platform,
                standard: standard,
                naming: naming,
                reserved: reserved
            )
            return (decoder, SensorLoggerDecoder.streams(naming))
        case .ownTracks(let stepsEvery, _):
            return (
                OwnTracksDecoder(stepsEvery: stepsEvery, box: box, naming: naming),
                OwnTracksDecoder.streams(naming)
            )
        case .overland:
            return (OverlandDecoder(naming: naming), OverlandDecoder.streams(naming))
        case .json(let mapping):
            let decoder = FlatJSONDecoder(mapping, naming: naming, reserved: reserved)
            return (decoder, mapping.streams(naming))
        case .mqtt(let shape):
            let decoder = DeviceDecoder(shape, naming: naming, reserved: reserved)
            return (decoder, shape.mapping.streams(naming))
        }
    }
}
