internal import Compression
internal import Diagnostics
public import Samples

/// A table of numbers: a row is a moment, a column a field of one of several streams.
///
/// Rows end at line ends, or at semicolons where several stand in a line. A comma or a bar parts columns; lines that begin
/// with `#` are comments.
public struct RecordedTable: RecordedSource {
    /// So many rows at a time, and so many nanoseconds: the streams of one moment shall not come far from each other.
    private static let chunk = 512
    private static let span: Int64 = 1_000_000_000

    /// The streams of its columns.
    public let streams: [Stream]
    /// Broken rows so far.
    public private(set) var rejects = 0
    /// Why the first of them is broken.
    public private(set) var example = ""

    private let lines: LineReader
    private let path: String
    private let columns: [RecordedColumn]
    private let groups: [Int]
    private let rate: Double?
    private var power: Int?
    private var row: Int64 = 0
    private var isFirst: Bool
    private var isAtEnd = false
    private var first: Int64?
    private var last: Int64?
    /// The values of the running row, by group and field; NaN where there is none.
    private var values: [[Double]]

    /// Opens the file and finds its columns.
    init(_ path: String, _ options: RecordingOptions) throws(ReplayError) {
        self.path = path
        if let rate = options.rate, !(rate > 0 && rate <= 100_000) {
            throw ReplayError(kind: .header, description: "--rate is \(rate), but must be above 0 and at most 100000.")
        }
        let found = try RecordedTable.columns(path, options)
        columns = found.columns
        lines = try FieldFinder.open(path)
        var groups: [Int] = []
        for case .value(let group, _, _) in columns where !groups.contains(group) { groups.append(group) }
        guard !groups.isEmpty else {
            throw ReplayError(
                kind: .header,
                description: "\(path): no column is a value that is known. \(RecordedTable.hint)"
            )
        }
        let times = columns.filter { if case .time = $0 { true } else { false } }
        guard !times.isEmpty || options.rate != nil else {
            throw ReplayError(
                kind: .header,
                description: "\(path): no column is a time. Name one with --columns, or say --rate HZ."
            )
        }
        rate = times.isEmpty || options.rate != nil ? options.rate : nil
        if case .time(let power)? = times.first { self.power = power }
        // User acceleration without gravity beside it is a stream of its own; with it, both add up.
        let hasGravity = groups.contains(0)
        self.groups = groups.filter { $0 != RecordedColumn.userAcceleration || !hasGravity }
        streams = self.groups.map { RecordedTable.stream($0) }
        values = RecordedColumn.groups.map { Array(repeating: .nan, count: $0.fields.count) }
        isFirst = true
    }

    private static let hint = """
        A header names the columns (time_ns, ax, ay, az, gx, gy, gz, mx, my, mz, pressure, lat, lon ...), \
        or --columns does.
        """

    private static func stream(_ group: Int) -> Stream {
        let name = Name(mapping: RecordedColumn.groups[group].stream)
        if group == RecordedColumn.magnitude {
            return Stream(name, fields: [Field(Name(mapping: "a"), unit: .metresPerSecondSquared)])
        }
        return Stream(name, fields: KnownStreams.fields(of: name) ?? [Field(Name(mapping: "value"))])
    }

    private static func columns(
        _ path: String,
        _ options: RecordingOptions
    ) throws(ReplayError) -> (columns: [RecordedColumn], isHeader: Bool) {
        if let words = options.columns {
            var columns: [RecordedColumn] = []
            for word in words {
                if word == "-" || word.isEmpty {
                    columns.append(.skipped)
                } else if let column = RecordedColumn(word, options) {
                    columns.append(column)
                } else {
                    throw ReplayError(kind: .header, description: "--columns: \"\(word)\" is no column. \(hint)")
                }
            }
            return (columns, false)
        }
        let lines = try FieldFinder.open(path)
        while let line = try FieldFinder.next(lines) {
            guard case .text(let bytes) = line else { break }
            guard FieldFinder.isRow(bytes) else { continue }
            return (try guess(bytes, path, options), true)
        }
        throw ReplayError(kind: .header, description: "\(path): the file is empty. \(hint)")
    }

    private static func guess(
        _ line: UnsafeRawBufferPointer,
        _ path: String,
        _ options: RecordingOptions
    ) throws(ReplayError) -> [RecordedColumn] {
        let record = UnsafeRawBufferPointer(rebasing: line[..<(line.firstIndex(of: UInt8(ascii: ";")) ?? line.count)])
        var words: [String] = []
        var areNumbers = true
        var parts = record.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        if parts.isEmpty { parts = [record[...]] }
        for part in parts {
            var cells = Cells(UnsafeRawBufferPointer(rebasing: part))
            while let cell = cells.next() {
                if Decimal(cell.bytes) == nil { areNumbers = false }
                words.append(cell.text)
            }
        }
        guard areNumbers else { return words.map { RecordedColumn($0, options) ?? .skipped } }
        // Rows between semicolons are accelerations in g: total, or the user's and gravity.
        var options = options
        options.accelerationUnit = options.accelerationUnit ?? "g"
        let names: [String]? =
            record.count == line.count
            ? nil
            : words.count == 3 ? ["ax", "ay", "az"] : words.count == 6 ? ["ux", "uy", "uz", "ax", "ay", "az"] : nil
        guard let names else {
            throw ReplayError(kind: .header, description: "\(path): the file has no header. \(hint)")
        }
        return names.map { RecordedColumn($0, options) ?? .skipped }
    }

    /// The next rows.
    public mutating func next() throws(ReplayError) -> [SampleBatch]? {
        guard !isAtEnd else { return nil }
        var batches = streams.map { SampleBatch($0, arrival: BootInstant(nanoseconds: 0)) }
        var rows = 0
        first = nil
        while rows < RecordedTable.chunk, !isSpanFull {
            guard let line = try FieldFinder.next(lines) else {
                isAtEnd = true
                break
            }
            guard case .text(let bytes) = line else {
                reject("it is longer than \(LineReader.longestLine) bytes")
                rows += 1
                continue
            }
            guard FieldFinder.isRow(bytes) else { continue }
            // All records of a line come at once: a line is at most a megabyte.
            for record in bytes.split(separator: UInt8(ascii: ";")) {
                take(UnsafeRawBufferPointer(rebasing: record), into: &batches)
                rows += 1
            }
        }
        return batches.filter { !$0.isEmpty }
    }

    private var isSpanFull: Bool {
        guard let first, let last else { return false }
        return (last &- first).magnitude >= RecordedTable.span.magnitude
    }

    private mutating func reject(_ reason: String) {
        if rejects == 0 { example = "\(path), line \(lines.number): \(reason)" }
        rejects += 1
    }

    private mutating func take(_ record: UnsafeRawBufferPointer, into batches: inout [SampleBatch]) {
        let wasFirst = isFirst
        isFirst = false
        for group in values.indices { for field in values[group].indices { values[group][field] = .nan } }
        var time: Int64?
        var known = 0
        var column = 0
        for part in record.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false) {
            var cells = Cells(UnsafeRawBufferPointer(rebasing: part))
            while let cell = cells.next() {
                guard column < columns.count else { break }
                switch columns[column] {
                case .skipped: break
                case .time: time = self.time(cell.bytes) ?? time
                case .value(let group, let field, let factor):
                    if let number = Decimal.number(cell.bytes) {
                        values[group][field] = number * factor
                        known += 1
                    }
                }
                column += 1
            }
        }
        guard known > 0 else {
            // The header, where columns were named all the same.
            if !wasFirst { reject("it has no value") }
            return
        }
        if let rate {
            time = Int64((Double(row) * 1e9 / rate).rounded())
            row += 1
        }
        guard let time else { return reject("it has no time") }
        if first == nil { first = time }
        last = time
        give(Timestamp(nanoseconds: time), into: &batches)
    }

    private mutating func time(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard let decimal = Decimal(bytes) else { return nil }
        let power = power ?? (decimal.wholeDigits >= 16 ? 0 : 9)
        guard let time = decimal.scaled(by: power), time.magnitude <= RowParser.largestTime.magnitude else {
            return nil
        }
        self.power = power
        return time
    }

    private mutating func give(_ time: Timestamp, into batches: inout [SampleBatch]) {
        for (place, group) in groups.enumerated() {
            if group == 0, !values[RecordedColumn.userAcceleration][0].isNaN {
                for axis in 0..<3 { values[0][axis] += values[RecordedColumn.userAcceleration][axis] }
            }
            guard values[group].contains(where: { $0.isFinite }) else { continue }
            batches[place].append(time: time, values[group].map { Value($0) })
        }
    }
}
