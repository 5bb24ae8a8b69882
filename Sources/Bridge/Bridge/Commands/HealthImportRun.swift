// Thread rule: reading blocks, so this actor has a thread of its own.

internal import Diagnostics
internal import HealthImport
internal import Samples

/// One import: reads the export piece by piece, and writes its records batch by batch.
actor HealthImportRun {
    private let executor = BlockingExecutor(label: "import")
    private let options: ImportCommand.Options
    private let folder: String
    private let destination: ImportDestination
    private var batches: [SampleBatch] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ options: ImportCommand.Options, folder: String, destination: ImportDestination) {
        self.options = options
        self.folder = folder
        self.destination = destination
    }

    /// Reads the whole export; nil for the session when there was nothing to keep.
    func run() async throws -> (report: HealthReport, session: Int64?) {
        let file = try HealthExportFile(options.file, limit: options.limit)
        let export = try HealthExport(
            options.file,
            calendar: SystemDays(),
            priority: options.priority,
            temporaryFolder: folder,
            read: file.read
        )
        let arrival = SystemTime().boot()
        batches = HealthSamples.streams.map { SampleBatch($0, arrival: arrival) }
        var session: Int64?
        var records: [HealthRecord] = []
        do {
            while try export.next(&records) {
                guard !records.isEmpty else { continue }
                if session == nil { session = try await destination.begin() }
                let sources = export.sources
                for record in records {
                    let (time, values) = HealthSamples.values(record, sources[record.source])
                    batches[record.quantity.rawValue].append(time: time, values)
                }
                if let session { try await write(to: session, atLeast: HealthSamples.batchSize) }
            }
            if let session {
                try await write(to: session, atLeast: 1)
                try await destination.end(session)
            }
        } catch {
            // What was read stays, as an ended session that can be looked at and deleted.
            if let session { try? await destination.end(session) }
            throw error
        }
        return (try export.report(), session)
    }

    private func write(to session: Int64, atLeast least: Int) async throws {
        for index in batches.indices where batches[index].count >= least {
            try await destination.write(batches[index], to: session)
            batches[index] = SampleBatch(batches[index].stream, arrival: batches[index].arrival)
        }
    }
}
