internal import Compression
internal import Samples

/// Opens a file for the first time: what its columns are, and what its fields hold.
struct FieldFinder {
    /// How many rows are looked at to tell numbers from words.
    static let rows = 200

    let layout: Layout
    let fields: [Field]
    /// The values of the first good row.
    private(set) var firstValues: [Value]

    /// Reads the header and some rows.
    init(_ path: String, stream: Name) throws(ReplayError) {
        let lines = try FieldFinder.open(path)
        layout = try FieldFinder.layout(lines, path: path)
        var isNumber = layout.names.map { _ in true }
        var isFlag = layout.names.map { _ in true }
        var isSeen = layout.names.map { _ in false }
        var texts: [String] = []
        // A file that is damaged further on is still good up to there.
        while texts.count < FieldFinder.rows, let line = try? lines.next() {
            guard case .text(let bytes) = line, FieldFinder.isRow(bytes) else { continue }
            texts.append(String(decoding: bytes, as: UTF8.self))
            var cells = Cells(bytes)
            for column in layout.columns {
                guard let cell = cells.next() else { break }
                guard case .field(let place) = column, !cell.bytes.isEmpty else { continue }
                isSeen[place] = true
                if Decimal.number(cell.bytes) == nil { isNumber[place] = false }
                if !["true", "false"].contains(cell.text.lowercased()) { isFlag[place] = false }
            }
        }
        let known = KnownStreams.fields(of: stream)
        fields = layout.names.enumerated().map { place, name in
            if let field = known?.first(where: { $0.name == name }) { return field }
            let kind: FieldKind = !isSeen[place] || isNumber[place] ? .real : isFlag[place] ? .flag : .text
            return Field(name, kind: kind)
        }
        firstValues = fields.map { _ in .missing }
        var parser = RowParser(layout, fields: fields)
        for var text in texts {
            let isGood = text.withUTF8 { bytes in (try? parser.parse(UnsafeRawBufferPointer(bytes))) != nil }
            guard isGood else { continue }
            firstValues = parser.values
            break
        }
    }

    /// Opens the file.
    static func open(_ path: String) throws(ReplayError) -> LineReader {
        do throws(CompressionError) {
            return try LineReader(path)
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
    }

    /// Goes to the header and reads it.
    static func layout(_ lines: LineReader, path: String) throws(ReplayError) -> Layout {
        while let line = try next(lines) {
            guard case .text(let bytes) = line else { break }
            if isRow(bytes) { return try Layout(header: bytes, place: "\(path), line \(lines.number)") }
        }
        throw ReplayError(kind: .header, description: "\(path): the file has no header. \(Layout.form)")
    }

    /// The next line.
    static func next(_ lines: LineReader) throws(ReplayError) -> LineReader.Line? {
        do throws(CompressionError) {
            return try lines.next()
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
    }

    /// Whether the line is neither empty nor a comment.
    static func isRow(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }) else { return false }
        return first != UInt8(ascii: "#")
    }
}
