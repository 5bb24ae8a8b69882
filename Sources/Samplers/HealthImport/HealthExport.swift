/// An export of Apple Health, read once from its beginning to its end with memory that does not grow with it.
public struct HealthExport {
    /// What an export was found to hold.
    public struct Report: Sendable {
        /// Who wrote records, in the order of their first ones.
        public var sources: [HealthSource] = []
        /// The days that have something, the earliest first.
        public var days: [HealthDay] = []
        /// The number of records of each quantity.
        public var records: [HealthQuantity: Int] = [:]
        /// Records of other quantities, passed over.
        public var others = 0
        /// Records that could not be used.
        public var bad = 0
        /// What is wrong with the first of those.
        public var example = ""
        /// The bytes of the document.
        public var bytes = 0
    }

    let calendar: any LocalDays
    private let priority: [String]
    let temporaryFolder: String

    /// Longer than this is no tag of an export.
    private static let longestTag = 8 << 20

    /// Prepares reading.
    ///
    /// - Parameters:
    ///   - calendar: which day a moment belongs to.
    ///   - priority: names of sources, the one that is believed most first; others follow: watches, phones, the rest.
    ///   - temporaryFolder: where intervals lie that memory shall not hold.
    public init(calendar: any LocalDays, priority: [String] = [], temporaryFolder: String = "/tmp") {
        self.calendar = calendar
        self.priority = priority
        self.temporaryFolder = temporaryFolder
    }

    /// Reads the whole document.
    ///
    /// - Parameters:
    ///   - name: how errors call it.
    ///   - read: gives the next bytes, and how many; 0 at the end. It may be called again after that.
    ///   - take: takes each record with its source; it may throw to end the reading.
    /// - Throws: what `read` and `take` throw, and ``HealthImportError``. A document that ends too early throws
    ///   ``HealthImportError/truncated(_:)`` after all of its records were taken.
    public func read(
        _ name: String,
        from read: (UnsafeMutableRawBufferPointer) throws -> Int,
        records take: (HealthRecord, HealthSource) throws -> Void
    ) throws -> Report {
        let reading = try ExportReading(self, name: name)
        let buffer = ScanBuffer(limit: Self.longestTag)
        var scanner = ExportScanner()
        while true {
            let count = try buffer.fill(read)
            guard count > 0 else { break }
            reading.report.bytes += count
            let consumed = scanner.scan(buffer.bytes) { reading.handle($0, $1, $2, take) }
            try reading.check()
            guard buffer.drop(consumed) else { throw HealthImportError.damaged(reading.report.bytes) }
        }
        guard scanner.hasRoot else { throw HealthImportError.empty(name) }
        let report = try reading.finish(priority: priority)
        guard scanner.isComplete else { throw HealthImportError.truncated(reading.report.bytes) }
        return report
    }
}
