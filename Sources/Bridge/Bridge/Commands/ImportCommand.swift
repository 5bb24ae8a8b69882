internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Glibc
internal import HealthImport
internal import Outbox
internal import Recorder
internal import Samples

/// `feedbridge import health`: a phone's history into a session of its own, and its days to a feed.
public struct ImportCommand: Command {
    /// What to import and what to do with it.
    public struct Options: Sendable, Hashable {
        /// The `export.zip` or `export.xml`.
        public var file: String
        /// The feed to which the days go, if any.
        public var publish: String?
        /// Which total of a day goes there: steps, distance, floors or heart_rate.
        public var quantity = "steps"
        /// Names of sources, the one that is believed most first.
        public var priority: [String] = []
        /// Whether the days are printed as JSON; else as a table.
        public var json = false
        /// To how many bytes the zip may unfold.
        public var limit: UInt64 = 64 << 30

        /// Makes options with a file.
        public init(file: String) {
            self.file = file
        }
    }

    private let options: Options

    /// Makes the command.
    public init(_ options: Options) {
        self.options = options
    }

    /// Reads the export once; records go through the running bridge, which owns the file, else straight to it.
    public func run(_ context: CommandContext) async throws {
        let configuration = try context.configuration()
        let directory = try StateDirectory(configuration, environment: context.environment)
        guard let quantity = HealthQuantity.allCases.first(where: { $0.word == options.quantity }) else {
            let words = HealthQuantity.allCases.map(\.word).joined(separator: ", ")
            throw CommandError("--of must be one of \(words), not \"\(options.quantity)\"", exitCode: 2)
        }
        let feed = try options.publish.map { text throws(CommandError) in
            guard let feed = FeedKey(text) else {
                throw CommandError("\"\(text)\" is no key of a feed", exitCode: 2)
            }
            return feed
        }
        try directory.make(configurationFile: configuration.file)
        let destination = try await ImportDestination.find(directory, context.log)
        let run = HealthImportRun(options, folder: context.environment["TMPDIR"] ?? "/tmp", destination: destination)
        let result: (report: HealthReport, session: Int64?)
        do {
            result = try await run.run()
        } catch {
            try? await destination.close()
            throw error
        }
        let report = result.report
        let days = options.json ? HealthTable.json(report) : HealthTable.text(report)
        context.output(days)
        say(report, session: result.session, context.log)
        if let feed {
            try await publish(report.days, quantity, to: feed, configuration, directory, context.log)
        }
        try await destination.close()
        if !report.isComplete {
            throw CommandError(
                "\(options.file) ends in the middle; what came before was imported. Copy it again, and delete the "
                    + "session before you import it once more"
            )
        }
    }

    private func say(_ report: HealthReport, session: Int64?, _ log: Log) {
        let counts = HealthQuantity.allCases.compactMap { quantity in
            report.records[quantity].map { "\($0) \(quantity.word)" }
        }
        let session = session.map { " in session \($0)" } ?? ""
        log.info(
            "\(counts.isEmpty ? "no" : counts.joined(separator: ", ")) records\(session); \(report.others) of other kinds passed over"
        )
        if report.bad > 0 { log.warning("\(report.bad) records could not be used; the first: \(report.example)") }
    }

    /// Puts the days that the service still keeps into the outbox, each at its noon.
    private func publish(
        _ days: [HealthDay],
        _ quantity: HealthQuantity,
        to feed: FeedKey,
        _ configuration: Configuration,
        _ directory: StateDirectory,
        _ log: Log
    ) async throws {
        let now = SystemTime().wall()
        let oldest = now - configuration.outbox.maxAge
        var old = 0
        var points: [DataPoint] = []
        for day in days {
            guard let amount = day.merged[quantity] else { continue }
            let noon = Timestamp(nanoseconds: (day.start + (day.end - day.start) / 2) * 1_000_000_000)
            // The last day may not be over: its noon may be still to come.
            let time = min(noon, now)
            guard time > oldest else {
                old += 1
                continue
            }
            let precision = quantity == .steps || quantity == .floors ? 0 : 1
            guard let value = CanonicalText.number(amount, precision: precision) else { continue }
            points.append(DataPoint(feed: feed, value: value, createdAt: time))
        }
        try await OutboxDoor(directory, log).add(points)
        let skipped = old == 0 ? "" : "; \(old) are older than the service keeps points, and were not"
        log.info("\(points.count) days were queued for feed \(feed)\(skipped)")
    }
}
