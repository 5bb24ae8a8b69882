internal import FastJSON
internal import SQLite
internal import Samples

/// How samples are written as text.
public enum RowFormat: String, Sendable, CaseIterable {
    /// A header `time_ns,FIELD...` and a line a sample; what is missing is empty (RFC 4180, lines end in a line feed).
    case csv
    /// An object a line: `{"stream":...,"time_ns":...,FIELD:...}`; what is missing is null.
    case jsonl
}

/// Writes the samples of one cursor as text.
struct RowWriter {
    private let format: RowFormat
    private let cursor: SampleCursor
    /// What stands before each value of a JSON line: `,"x":`.
    private let keys: [[UInt8]]
    private let opening: [UInt8]

    init(_ format: RowFormat, _ cursor: SampleCursor) {
        self.format = format
        self.cursor = cursor
        keys = cursor.columns.map { column in
            var bytes = Array(",".utf8)
            JSON.write(string: column.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            return bytes
        }
        var bytes = Array(#"{"stream":"#.utf8)
        JSON.write(string: cursor.name, to: &bytes)
        opening = bytes + Array(#","time_ns":"#.utf8)
    }

    /// Writes the line with the names of the columns; only CSV has one.
    func writeHeader(to bytes: inout [UInt8]) {
        guard format == .csv else { return }
        bytes.append(contentsOf: "time_ns".utf8)
        for column in cursor.columns {
            bytes.append(UInt8(ascii: ","))
            bytes.append(contentsOf: column.name.utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes the sample on which the cursor stands.
    func writeRow(to bytes: inout [UInt8]) {
        let row = cursor.row
        switch format {
        case .csv:
            NumberText.append(cursor.time, to: &bytes)
            for (index, column) in cursor.columns.enumerated() {
                bytes.append(UInt8(ascii: ","))
                let place = index + SampleCursor.firstValue
                guard !row.isNull(at: place) else { continue }
                switch column.kind {
                case .real: NumberText.append(row.real(at: place), to: &bytes)
                case .integer: NumberText.append(row.integer(at: place), to: &bytes)
                case .flag: bytes.append(UInt8(ascii: row.integer(at: place) == 0 ? "0" : "1"))
                case .text: row.withText(at: place) { CSVText.append($0, to: &bytes) }
                }
            }
        case .jsonl:
            bytes.append(contentsOf: opening)
            NumberText.append(cursor.time, to: &bytes)
            for (index, column) in cursor.columns.enumerated() {
                bytes.append(contentsOf: keys[index])
                let place = index + SampleCursor.firstValue
                guard !row.isNull(at: place) else {
                    bytes.append(contentsOf: "null".utf8)
                    continue
                }
                switch column.kind {
                case .real: NumberText.append(row.real(at: place), to: &bytes)
                case .integer: NumberText.append(row.integer(at: place), to: &bytes)
                case .flag: bytes.append(contentsOf: (row.integer(at: place) == 0 ? "false" : "true").utf8)
                case .text: JSON.write(string: row.text(at: place) ?? "", to: &bytes)
                }
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}

/// Text as a field of CSV.
enum CSVText {
    /// Adds the text; in quotes when it has a comma, a quote, a line end or a space at an end, or when it is empty.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        let needsQuotes =
            text.isEmpty || text.first == 32 || text.last == 32
            || text.contains { $0 == 44 || $0 == 34 || $0 == 10 || $0 == 13 }
        guard needsQuotes else {
            bytes.append(contentsOf: text)
            return
        }
        bytes.append(34)
        for byte in text {
            if byte == 34 { bytes.append(34) }
            bytes.append(byte)
        }
        bytes.append(34)
    }
}

/// Numbers as text, with no text object in between where it matters.
enum NumberText {
    /// Adds the digits of a whole number.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// Adds the shortest text that reads back as the same number.
    static func append(_ number: Double, to bytes: inout [UInt8]) {
        var text = number.description
        text.withUTF8 { utf8 in
            let isWhole = utf8.count > 2 && utf8[utf8.count - 1] == 48 && utf8[utf8.count - 2] == 46
            bytes.append(contentsOf: isWhole ? UnsafeBufferPointer(rebasing: utf8.dropLast(2)) : utf8)
        }
    }
}
