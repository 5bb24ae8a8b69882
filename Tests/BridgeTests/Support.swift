import AdafruitIO
import Control
import DataPoints
import Diagnostics
import Feeds
import Glibc
import Outbox
import Publisher
import Recorder
import Samples
import Simulator
import TestKit

@testable import Bridge

/// The stream `name` with the number fields `fields`.
func stream(_ name: String, _ fields: String...) -> Samples.Stream {
    Samples.Stream(Name(mapping: name), fields: fields.map { Field(Name(mapping: $0)) })
}

/// The key of a feed.
func feed(_ text: String) -> FeedKey {
    guard let key = FeedKey(text) else { preconditionFailure("\(text) is no key of a feed") }
    return key
}

/// Recorder, rules and outbox behind a data flow; a clock that a test moves.
struct FlowWorld {
    let time = ManualTime()
    let folder = TemporaryDirectory()
    let recorder: RecorderStore
    let outbox: OutboxStore
    let flow: DataFlow
    let talk = Talk()

    init(rules: [Rule] = [], bufferBytes: Int = 8 << 20) async throws {
        var settings = RecorderStore.Settings()
        settings.bufferBytes = bufferBytes
        recorder = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        outbox = try await OutboxStore.open(folder: folder.path, time: time)
        let engine = try RuleEngine(rules, device: "test", isRecording: false)
        flow = DataFlow(rules: engine, recorder: recorder, outbox: outbox, time: time, log: talk.log)
    }

    /// How many points the rules have made.
    var accepted: Int { outbox.statistics.total.accepted }

    /// The points that the rules have made, in order.
    func points() async throws -> [DataPoint] {
        try await outbox.flush()
        var found: [OutboxPoint] = []
        for feed in outbox.statistics.feeds.keys { found += try await outbox.points(of: feed) }
        return found.sorted { $0.id < $1.id }.map(\.point)
    }

    /// Delivery to an account that is not there, or that `configuration` names; it does nothing before it is run.
    func delivery(_ configuration: Configuration, key: String = "key", _ time: (any TimeSource)? = nil) throws
        -> PublisherDriver
    {
        PublisherDriver(
            PublisherSettings(configuration),
            access: try PublisherAccess(configuration, key: Secret(key)),
            outbox: outbox,
            memory: nil,
            time: time ?? self.time,
            log: talk.log
        ) { _ in }
    }

    /// `count` samples of `stream`, 10 ms apart, the first one now.
    func batch(_ stream: Samples.Stream, _ count: Int) -> SampleBatch {
        let now = time.wall()
        var batch = SampleBatch(stream, arrival: time.boot())
        for index in 0..<count {
            batch.append(time: now + .milliseconds(10 * index), stream.fields.map { _ in Value(Double(index)) })
        }
        return batch
    }
}

/// What a part says in its log.
final class Talk: Sendable {
    fileprivate let lines = Guarded<[String]>([])

    var text: String { lines.withLock { $0.joined() } }

    var log: Log {
        Log(program: "test", least: .debug) { [lines] line in lines.withLock { $0.append(line) } }
    }
}

/// A sampler that a test watches and tells what to do.
final class ScriptedSampler: Sampler {
    struct Broken: Error, CustomStringConvertible {
        let description = "the cable is broken"
    }

    private struct State {
        var runs = 0
        var running = 0
        var mostAtOnce = 0
        var failures: Int
    }

    let kind = "scripted"
    let streams: [Samples.Stream]
    private let state: Guarded<State>

    private let time: any TimeSource

    /// The first `failures` runs throw; `time` stamps the samples.
    init(_ name: String = "test", failures: Int = 0, time: any TimeSource = SystemTime()) {
        self.time = time
        streams = [stream(name, "value")]
        state = Guarded(State(failures: failures))
    }

    var runs: Int { state.withLock { $0.runs } }
    var isRunning: Bool { state.withLock { $0.running > 0 } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func run(into sink: any SampleSink) async throws {
        let isBroken = state.withLock { state in
            state.runs += 1
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            return state.runs <= state.failures
        }
        defer { state.withLock { $0.running -= 1 } }
        if isBroken { throw Broken() }
        sink.receive(SampleBatch(streams[0], arrival: time.boot(), time: time.wall(), [.real(1)]))
        // Until it is cancelled.
        try await SystemTime().sleep(for: .seconds(86_400))
    }

    func readings() async -> [SensorReading] { [] }
}

extension Configuration.Sampler {
    /// Settings for a scripted sampler: the line tells two apart in messages only, `every` makes them differ.
    static func test(line: Int = 1, every: Duration = .seconds(1), always: Bool = false) -> Configuration.Sampler {
        Configuration.Sampler(position: .init(line: line, column: 1), always: always, kind: .host(every: every))
    }
}

/// A simulator of Adafruit IO in this process with the account `ada`, whose key is `key`.
struct SimulatedIO {
    let simulator: AdafruitIOSimulator
    let folder = TemporaryDirectory()

    init(
        _ plan: AdafruitIOPlan = .custom(pointsPerMinute: 10_000),
        _ faults: [Fault] = [],
        time: any TimeSource = SystemTime()
    ) throws {
        var configuration = SimulatorConfiguration(
            accounts: [SimulatedAccount(name: "ada", key: Secret("key"), plan: plan)]
        )
        configuration.mqttPort = 0
        configuration.httpPort = 0
        configuration.faults = faults
        configuration.time = time
        simulator = try AdafruitIOSimulator(configuration)
    }

    /// A configuration file for it.
    func text(_ more: String = "", account: String = "", name: String = "greenhouse") -> String {
        """
        name = "\(name)"
        state = "\(folder.path)/state"
        [account]
        username = "ada"
        mqtt = "mqtt://127.0.0.1:\(simulator.mqttPort)"
        rest = "http://127.0.0.1:\(simulator.httpPort)"
        \(account)
        [recorder]
        smallest_free = "1 MB"
        \(more)
        """
    }

    func configuration(_ more: String = "", account: String = "") throws -> Configuration {
        try Configuration(parsing: text(more, account: account), file: "feedbridge.toml")
    }

    /// Writes the configuration file and returns what a command needs.
    func context(_ more: String = "", account: String = "", _ output: Talk = Talk(), _ log: Talk = Talk()) throws
        -> CommandContext
    {
        let path = try folder.write(text(more, account: account), to: "feedbridge.toml")
        chmod(path, 0o600)
        return CommandContext(
            configurationFile: path,
            environment: ["ADAFRUIT_IO_KEY": "key"],
            log: log.log,
            output: { output.add($0) }
        )
    }
}

extension Talk {
    func add(_ text: String) { lines.withLock { $0.append(text) } }
}
