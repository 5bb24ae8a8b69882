internal import Diagnostics
internal import Samples

/// Turns lines into samples, or says why one is broken.
struct RowParser {
    /// Times beyond this, some 146 years on both sides of 1970, are broken: sums of them would not fit.
    static let largestTime: Int64 = 4_600_000_000_000_000_000

    private let layout: Layout
    private let fields: [Field]
    private var timeScale: Int?
    /// The values of the row parsed last.
    private(set) var values: [Value]

    init(_ layout: Layout, fields: [Field]) {
        self.layout = layout
        self.fields = fields
        values = Array(repeating: .missing, count: fields.count)
        timeScale =
            switch layout.time {
            case .nanoseconds: 0
            case .milliseconds: 6
            case .seconds: 9
            case .byDigits: nil
            }
    }

    /// Why a row is broken.
    struct Broken: Error {
        let reason: String
    }

    /// Reads one row: its time is returned, its values stand in `values`.
    mutating func parse(_ line: UnsafeRawBufferPointer) throws(Broken) -> Int64 {
        var cells = Cells(line)
        var time: Int64?
        var hasValue = false
        for column in layout.columns {
            guard let cell = cells.next() else {
                throw Broken(reason: "it has fewer columns than the header's \(layout.columns.count)")
            }
            switch column {
            case .skipped:
                break
            case .time:
                time = try self.time(cell)
            case .field(let place):
                let value = try value(cell, fields[place])
                hasValue = hasValue || value != .missing
                values[place] = value
            }
        }
        while let cell = cells.next() {
            if !cell.bytes.isEmpty {
                throw Broken(reason: "it has more columns than the header's \(layout.columns.count)")
            }
        }
        guard let time else { throw Broken(reason: "it has no time") }
        guard hasValue else { throw Broken(reason: "it has no value") }
        return time
    }

    private mutating func time(_ cell: Cells.Cell) throws(Broken) -> Int64 {
        guard let decimal = Decimal(cell.bytes) else { throw Broken(reason: "\(quote(cell)) is no time") }
        let scale = timeScale ?? (decimal.wholeDigits >= 16 ? 0 : 9)
        guard let time = decimal.scaled(by: scale), time.magnitude <= RowParser.largestTime.magnitude else {
            throw Broken(reason: "the time \(quote(cell)) is out of range")
        }
        timeScale = scale
        return time
    }

    private func value(_ cell: Cells.Cell, _ field: Field) throws(Broken) -> Value {
        guard !cell.bytes.isEmpty else { return .missing }
        switch field.kind {
        case .real:
            guard let number = Decimal.number(cell.bytes) else {
                throw Broken(reason: "\(field.name) is \(quote(cell)), which is no number")
            }
            return Value(number)
        case .integer:
            guard let decimal = Decimal(cell.bytes), let whole = decimal.scaled(by: 0),
                decimal.exponent >= 0 || decimal.fast == Double(whole)
            else { throw Broken(reason: "\(field.name) is \(quote(cell)), which is no whole number") }
            return .integer(whole)
        case .flag:
            guard let flag = RowParser.flag(cell.text) else {
                throw Broken(reason: "\(field.name) is \(quote(cell)), which is neither true nor false")
            }
            return .flag(flag)
        case .text:
            return .text(cell.text)
        }
    }

    /// `true` and `false` in any case, `1` and `0`.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    private func quote(_ cell: Cells.Cell) -> String {
        let text = cell.text
        return text.count <= 32 ? "\"\(text)\"" : "\"\(text.prefix(32))…\""
    }
}
