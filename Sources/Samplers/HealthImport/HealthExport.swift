/// An export of Apple Health, read once from its beginning to its end with memory that does not grow with it.
///
/// Not Sendable: it stays with its owner. `next` blocks while it reads.
public final class HealthExport {
    private let name: String
    private let read: (UnsafeMutableRawBufferPointer) throws -> Int
    private let priority: [String]
    private let buffer = ScanBuffer(limit: HealthExport.longestTag)
    private let reading: ExportReading
    private var scanner = ExportScanner()

    /// Longer than this is no tag of an export.
    private static let longestTag = 8 << 20

    /// Prepares reading.
    ///
    /// - Parameters:
    ///   - name: how errors call the document.
    ///   - calendar: which day a moment belongs to.
    ///   - priority: names of sources, the one that is believed most first; others follow: watches, phones, the rest.
    ///   - temporaryFolder: where intervals lie that memory shall not hold.
    ///   - read: gives the next bytes of the document, and how many; 0 at the end.
    public init(
        _ name: String,
        calendar: any LocalDays,
        priority: [String] = [],
        temporaryFolder: String = "/tmp",
        read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws(HealthImportError) {
        self.name = name
        self.priority = priority
        self.read = read
        reading = try ExportReading(name: name, calendar: calendar, temporaryFolder: temporaryFolder)
    }

    /// The sources known by now, in the order of their first records.
    public var sources: [HealthSource] { reading.sources }

    /// Reads the next piece; the records in it replace those in `records`. False at the end of the document.
    public func next(_ records: inout [HealthRecord]) throws -> Bool {
        records.removeAll(keepingCapacity: true)
        let count = try buffer.fill(read)
        guard count > 0 else { return false }
        reading.report.bytes += count
        let consumed = scanner.scan(buffer.bytes) { reading.handle($0, $1, $2, into: &records) }
        try reading.check()
        guard buffer.drop(consumed) else { throw HealthImportError.damaged(reading.report.bytes) }
        return true
    }

    /// What the whole document holds: after `next` has given false.
    ///
    /// It throws when there was nothing, or no export. A document that ended in the middle has a
    /// report, too, in which `isComplete` is false.
    public func report() throws(HealthImportError) -> HealthReport {
        guard scanner.hasRoot else {
            throw reading.report.bytes == 0 ? HealthImportError.empty(name) : HealthImportError.notAnExport(name)
        }
        var report = try reading.finish(priority: priority)
        report.isComplete = scanner.isComplete
        return report
    }
}
