internal import Derivations
internal import Diagnostics
internal import GPSDSamplers
internal import ReplaySamplers
internal import Samples

/// What `feedbridge replay` was asked, as typed.
public struct ReplayRequest: Sendable {
    /// The recording.
    public var file = ""
    /// The kinds of derivations.
    public var derivations: [String] = []
    /// The word of `--format`.
    public var format: String?
    /// The words of `--columns`.
    public var columns: [String]?
    /// Rows a second, where there is no time.
    public var rate: Double?
    /// The unit of accelerations.
    public var accelerationUnit: String?
    /// The unit of rates of rotation.
    public var gyroscopeUnit: String?
    /// The unit of magnetic fields.
    public var magneticUnit: String?
    /// Whether accelerations have an iPhone's sign.
    public var hasPhoneSign = false
    /// Settings of the derivations.
    public var settings: [(key: String, value: String)] = []
    /// Whether the summary alone is printed.
    public var isSummaryOnly = false

    /// Asks for nothing yet.
    public init() {}
}

/// `feedbridge replay`: what derivations make of a recording, as JSON lines, with a summary at the end.
public struct ReplayCommand: Command {
    private let request: ReplayRequest

    /// Makes the command.
    public init(_ request: ReplayRequest) {
        self.request = request
    }

    /// Reads the file and prints.
    public func run(_ context: CommandContext) async throws {
        let chain = try DerivationChain(derivations())
        let isTrack = request.format.map { TrackFormat(rawValue: $0) != nil } ?? false
        let options = isTrack ? RecordingOptions() : try options()
        let request = request
        // Files block, and a long recording computes for long: neither belongs on the shared threads.
        let executor = BlockingExecutor(label: "feedbridge.replay")
        try await executor.run {
            var replay = try Replay(chain, request, options, context)
            try replay.run()
        }
    }

    private func derivations() throws -> [any Derivation] {
        var understood: Set<String> = []
        var made: [any Derivation] = []
        for name in request.derivations {
            guard let kind = DerivationCatalog.kind(name) else {
                let known = DerivationCatalog.kinds.map(\.name).joined(separator: ", ")
                throw CommandError("--derive: there is no derivation \"\(name)\"; there are \(known)", exitCode: 2)
            }
            understood.formUnion(kind.keys)
            let entries = request.settings.filter { kind.keys.contains($0.key) }
            do {
                made.append(try kind.make(DerivationSettings(entries.map { .init($0.key, $0.value) })))
            } catch {
                throw CommandError("--option: \(error.description)", exitCode: 2)
            }
        }
        if let unknown = request.settings.first(where: { !understood.contains($0.key) }) {
            let known = understood.sorted().joined(separator: ", ")
            throw CommandError("--option: \"\(unknown.key)\" is no setting of these derivations: \(known)", exitCode: 2)
        }
        return made
    }

    private func options() throws -> RecordingOptions {
        var options = RecordingOptions()
        if let format = request.format {
            guard let known = RecordingFormat(rawValue: format) else {
                let all = RecordingFormat.allCases.map(\.rawValue) + TrackFormat.allCases.map(\.rawValue)
                let words = all.joined(separator: ", ")
                throw CommandError("--format must be one of \(words), not \"\(format)\"", exitCode: 2)
            }
            options.format = known
        }
        options.columns = request.columns
        options.rate = request.rate
        options.accelerationUnit = request.accelerationUnit
        options.gyroscopeUnit = request.gyroscopeUnit
        options.magneticUnit = request.magneticUnit
        options.hasPhoneSign = request.hasPhoneSign
        return options
    }
}

/// One replay of one file.
private struct Replay {
    private var chain: DerivationChain
    private var source: any RecordedSource
    private let request: ReplayRequest
    private let context: CommandContext
    private var text = SampleText()

    init(
        _ chain: DerivationChain,
        _ request: ReplayRequest,
        _ options: RecordingOptions,
        _ context: CommandContext
    ) throws {
        self.chain = chain
        self.request = request
        self.context = context
        source =
            try TrackFile.open(request.file, format: request.format) ?? RecordedFile.open(request.file, options)
        let there = Set(source.streams.map(\.name)).union(chain.streams.map(\.name))
        for derivation in chain.derivations where there.isDisjoint(with: derivation.inputs) {
            let needed = derivation.inputs.map(\.text).joined(separator: ", ")
            throw CommandError("\(request.file) has nothing for \(derivation.kind), which needs \(needed)")
        }
    }

    mutating func run() throws {
        while let batches = try source.next() {
            for batch in batches { print(chain.receive(batch)) }
        }
        print(chain.finish())
        text.append(summary: chain.summary)
        flush()
        if source.rejects > 0 {
            context.log.warning("\(source.rejects) pieces were skipped; the first: \(source.example)")
        }
    }

    private mutating func print(_ batches: [SampleBatch]) {
        guard !request.isSummaryOnly else { return }
        for batch in batches { text.append(batch) }
        if text.bytes.count > 65_536 { flush() }
    }

    private mutating func flush() {
        context.output(String(decoding: text.bytes, as: UTF8.self))
        text.bytes.removeAll(keepingCapacity: true)
    }
}
