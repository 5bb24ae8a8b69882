/// How a stream's source is doing.
public enum SourceCondition: Sendable, Hashable {
    /// Samples come.
    case ok
    /// Nothing has come for longer than asked.
    case silent
    /// The device, file or service is not there.
    case missing(String)
    /// We may not read it; the text says what to do about it.
    case noPermission(String)
    /// It fails in another way.
    case error(String)

    /// The word of the contract: `ok`, `silent`, `missing`, `no-permission` or `error`.
    public var word: String {
        switch self {
        case .ok: "ok"
        case .silent: "silent"
        case .missing: "missing"
        case .noPermission: "no-permission"
        case .error: "error"
        }
    }

    /// What to tell a person, when there is more than the word.
    public var detail: String? {
        switch self {
        case .ok, .silent: nil
        case .missing(let text), .noPermission(let text), .error(let text): text
        }
    }
}

/// Where samples go. No call waits: what a full buffer drops is counted by the receiver.
public protocol SampleSink: Sendable {
    /// Takes samples of one stream. The source never waits for the disk or the network.
    func receive(_ batch: SampleBatch)

    /// Takes note of how the source of `stream` is doing. A source reports changes only.
    func report(_ condition: SourceCondition, of stream: Name)

    /// Counts `count` pieces of input for `stream` that could not be used, with one of them as an example.
    func reject(_ count: Int, of stream: Name, example: String)

    /// Waits until the receiver's buffers have room again, for a source that can wait: a file, never a sensor.
    func waitForRoom() async throws

    /// Counts samples of `stream` that the source knew to be there already, and has left out.
    func skip(_ count: Int, of stream: Name)

    /// Takes samples that may come late or while the switch is off; `durably` returns when they are on the disk.
    ///
    /// A sample goes into the session whose span holds its time; others are kept outside when `keepOutside`, else nowhere.
    func store(_ batches: [SampleBatch], keepOutside: Bool, durably: Bool) async throws

    /// Whether the switch is on.
    var isRecording: Bool { get }
}

extension SampleSink {
    /// Counts nothing.
    public func skip(_ count: Int, of stream: Name) {}

    /// Takes the samples as any others.
    public func store(_ batches: [SampleBatch], keepOutside: Bool, durably: Bool) async throws {
        for batch in batches { receive(batch) }
    }

    /// On: right for a receiver without a switch.
    public var isRecording: Bool { true }

    /// Does not wait: right for a receiver that takes everything at once.
    public func waitForRoom() async throws {}
}

/// One row of `feedbridge sensors`: a stream, what it reads now, how it is doing.
public struct SensorReading: Sendable {
    /// The stream.
    public let stream: Stream
    /// One value for each field; `missing` where nothing could be read.
    public let values: [Value]
    /// How the source is doing.
    public let condition: SourceCondition

    /// Makes a reading.
    public init(stream: Stream, values: [Value], condition: SourceCondition) {
        self.stream = stream
        self.values = values
        self.condition = condition
    }
}

/// A source that can be started and stopped: one device, one app, one file.
///
/// It is found and its streams are known when it is made; making it starts nothing.
public protocol Sampler: Sendable {
    /// The `kind` of its `[[sampler]]` table.
    var kind: String { get }

    /// Every stream it may produce.
    var streams: [Stream] { get }

    /// Produces samples until the task is cancelled, or until a source that ends has ended. Once at a time.
    ///
    /// A source that comes and goes is waited for and reported through the sink; an error is thrown only when trying
    /// again cannot help.
    func run(into sink: any SampleSink) async throws

    /// Reads every stream once, for `feedbridge sensors`.
    func readings() async -> [SensorReading]
}
