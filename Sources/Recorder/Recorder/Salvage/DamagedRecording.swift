internal import SQLite
internal import Samples

/// What a damaged file of recordings holds, as far as its pages can be read.
///
/// The values of a sample have no sum: a bit that was flipped within a value shows nowhere. What is lost is what stood on
/// damaged pages, and nothing else.
final class DamagedRecording: Sendable {
    /// A stream with its columns in the order of its rows, behind time, session, boot and tie.
    struct StoredStream: Sendable {
        let name: Name
        let columns: [RecordedColumn]
    }

    /// A row of a stream's table.
    struct Sample: Sendable {
        let stream: Int
        let key: Int64
        let session: Int64?
        let boot: Int64?
        let tie: Int64
        let values: [SQLiteValue]
    }

    /// Samples of a session that a full buffer had dropped.
    struct Drops: Sendable {
        let stream: Int
        let session: Int64
        let count: Int64
    }

    /// Rows of `_sessions` by number, their columns without it.
    let sessions: [(id: Int64, values: [SQLiteValue])]
    /// Rows of `_marks`: session, time, text, boot.
    let marks: [[SQLiteValue]]
    let boots: [Int64: String]
    let streams: [StoredStream]
    let drops: [Drops]
    /// How many samples the file said to have.
    let expected: Int64
    /// Files whose salvage was done.
    let salvaged: [String]
    /// The pages with samples in their order, each with the place of its stream.
    let pages: [(number: UInt32, stream: Int)]
    private let image: DatabaseImage

    /// Which pages with samples are looked for.
    enum Extent {
        /// None: what there is beside samples, which is quickly read.
        case none
        /// Those that the log has.
        case log
        /// All, for which each page of the file is read.
        case all
    }

    /// Looks at the file at `path` and its log; nil when there is neither.
    init?(path: String, _ extent: Extent) {
        guard let image = DatabaseImage(path: path) else { return nil }
        self.image = image
        let tables = image.tables()
        func rows(_ table: String) -> [StoredPage.Row] { tables[table].map { image.rows(ofTree: $0) } ?? [] }

        sessions = rows("_sessions").filter { $0.values.count == 11 && $0.id > 0 }.map {
            ($0.id, Array($0.values.dropFirst()))
        }
        marks = rows("_marks").filter { $0.values.count == 5 }.map { Array($0.values.dropFirst()) }
        boots = Dictionary(rows("_boots").compactMap { row in row.values.last?.text.map { (row.id, $0) } }) { $1 }
        salvaged = rows("_salvages").filter { $0.values.last?.integer == 1 }.compactMap { $0.values.first?.text }

        var columns: [Int64: [RecordedColumn]] = [:]
        for row in rows("_fields") {
            guard row.values.count == 6, let stream = row.values[0].integer,
                let field = row.values[2].text.flatMap(Name.init),
                let unit = row.values[3].text, let kind = row.values[4].text.flatMap(FieldKind.init(rawValue:)),
                let name = row.values[5].text
            else { continue }
            columns[stream, default: []].append(
                RecordedColumn(name: name, field: field, unit: Unit(rawValue: unit), kind: kind)
            )
        }
        var (found, roots, places): ([StoredStream], [UInt32], [Int64: Int]) = ([], [], [:])
        for row in rows("_streams") {
            guard row.values.count == 3, let name = row.values[1].text.flatMap(Name.init),
                let root = row.values[2].text.flatMap({ tables[$0] }), let columns = columns[row.id]
            else { continue }
            places[row.id] = found.count
            found.append(StoredStream(name: name, columns: columns))
            roots.append(root)
        }
        streams = found

        var (lost, sum): ([Drops], Int64) = ([], 0)
        for row in rows("_holdings") where row.values.count == 7 {
            guard let stream = row.values[0].integer.flatMap({ places[$0] }), let session = row.values[1].integer,
                let samples = row.values[3].integer, let dropped = row.values[4].integer
            else { continue }
            sum &+= max(0, samples)
            if dropped > 0 { lost.append(Drops(stream: stream, session: session, count: dropped)) }
        }
        (drops, expected) = (lost, sum)
        pages =
            switch extent {
            case .none: []
            case .log: Self.pagesInLog(image, roots)
            case .all: Self.pages(image, roots)
            }
    }

    private static func pages(_ image: DatabaseImage, _ roots: [UInt32]) -> [(number: UInt32, stream: Int)] {
        guard !roots.isEmpty else { return [] }
        return image.owners(of: roots).enumerated().compactMap { number, owner in
            owner == 0 ? nil : (UInt32(number), Int(owner) - 1)
        }
    }

    private static func pagesInLog(_ image: DatabaseImage, _ roots: [UInt32]) -> [(number: UInt32, stream: Int)] {
        image.pagesInLog.compactMap { number in
            guard image.page(number)?.kind == .tableLeaf else { return nil }
            return image.owner(of: number, among: roots).map { (number, $0) }
        }
    }

    /// The samples of some of `pages`; of the copy of a log, if one is given.
    func samples(_ range: Range<Int>, in copy: DatabaseImage? = nil) -> [Sample] {
        pages[range].flatMap { page -> [Sample] in
            let image = copy ?? image
            guard image.page(page.number)?.kind == .tableLeaf else { return [] }
            return image.rows(of: page.number).compactMap { Self.sample($0, page.stream, streams[page.stream].columns) }
        }
    }

    private static func sample(_ row: StoredPage.Row, _ stream: Int, _ columns: [RecordedColumn]) -> Sample? {
        // A row that was written before a column was added has none for it.
        guard row.values.count >= 4, row.values.count <= columns.count + 4, row.values[0] == .null else { return nil }
        let values = zip(row.values.dropFirst(4), columns).map { value, column -> SQLiteValue in
            switch (value, column.kind) {
            case (.text, .text), (.integer, .real), (.real, .real), (.integer, .integer), (.integer, .flag): value
            default: .null
            }
        }
        return Sample(
            stream: stream,
            key: row.id,
            session: row.values[1].integer,
            boot: row.values[2].integer,
            tie: row.values[3].integer ?? 0,
            values: values
        )
    }
}
