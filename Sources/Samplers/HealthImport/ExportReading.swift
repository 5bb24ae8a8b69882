/// One reading of an export: what has been found up to now.
final class ExportReading {
    var report = HealthReport()
    private let name: String
    private var decoder = RecordDecoder()
    private var totals: DailyTotals
    private var spools: [IntervalSpool] = []
    private var counts = [Int](repeating: 0, count: HealthQuantity.allCases.count)
    private var problem: (any Error)?

    init(name: String, calendar: any LocalDays, temporaryFolder: String) throws(HealthImportError) {
        self.name = name
        totals = DailyTotals(calendar)
        for quantity in HealthQuantity.allCases where quantity.isCumulative {
            spools.append(try IntervalSpool(folder: temporaryFolder))
        }
    }

    var sources: [HealthSource] { decoder.sources.list }

    /// Takes an element that lies in `depth` others.
    func handle(
        _ element: ExportText,
        _ attributes: ExportAttributes,
        _ depth: Int,
        into records: inout [HealthRecord]
    ) {
        if depth == 0 {
            if !(element == "HealthData") { problem = problem ?? HealthImportError.notAnExport(name) }
            return
        }
        // Records in a correlation stand at the top once more.
        guard depth == 1, problem == nil, element == "Record", let record = decoder.decode(attributes) else { return }
        counts[record.quantity.rawValue] += 1
        totals.add(record)
        do {
            if record.quantity.isCumulative {
                let interval = Interval(
                    start: record.start,
                    duration: Int32(record.end - record.start),
                    source: Int32(record.source),
                    amount: record.value
                )
                try spools[record.quantity.rawValue].append(interval)
            }
            records.append(record)
        } catch {
            problem = error
        }
    }

    /// Throws what went wrong in `handle`.
    func check() throws {
        if let problem { throw problem }
    }

    /// Merges the sources and sums up.
    func finish(priority: [String]) throws(HealthImportError) -> HealthReport {
        let sources = decoder.sources.list
        let ranks = Self.ranks(of: sources, priority: priority)
        for quantity in HealthQuantity.allCases where quantity.isCumulative {
            var merge = IntervalMerge(ranks: ranks)
            try spools[quantity.rawValue].readAll { interval in
                merge.add(interval) { totals.addMerged($0, of: quantity, from: $1, to: $2) }
            }
            merge.finish { totals.addMerged($0, of: quantity, from: $1, to: $2) }
        }
        report.sources = sources
        report.days = totals.sorted
        for quantity in HealthQuantity.allCases where counts[quantity.rawValue] > 0 {
            report.records[quantity] = counts[quantity.rawValue]
        }
        report.others = decoder.others
        report.bad = decoder.bad
        report.example = decoder.example
        return report
    }

    /// The rank of each source: named ones in the order of `priority`, then watches, phones and the rest, each in the
    /// order of their first records.
    private static func ranks(of sources: [HealthSource], priority: [String]) -> [Int] {
        let order = sources.indices.sorted { left, right in
            func key(_ index: Int) -> (Int, Int, Int) {
                let named = priority.firstIndex { $0.lowercased() == sources[index].name.lowercased() }
                return (named ?? .max, sources[index].device.rawValue, index)
            }
            return key(left) < key(right)
        }
        var ranks = [Int](repeating: 0, count: sources.count)
        for (rank, index) in order.enumerated() { ranks[index] = rank }
        return ranks
    }
}
