internal import TOML

/// Reads one table of the configuration key by key, and reports what it cannot use. One thread only.
///
/// What was asked for is what is known: `finish()` reports every other key, with the nearest known one.
final class TableReader {
    let table: TOMLTable
    private let file: String
    private let report: (ConfigurationProblem) -> Void
    private var known: [String] = []

    init(_ table: TOMLTable, file: String, report: @escaping (ConfigurationProblem) -> Void) {
        self.table = table
        self.file = file
        self.report = report
    }

    // MARK: Values

    func string(_ key: String) -> String? {
        read(key, "a text in quotes", \.string)
    }

    func flag(_ key: String, default value: Bool) -> Bool {
        read(key, "true or false", \.boolean) ?? value
    }

    func number(_ key: String) -> Double? {
        read(key, "a number", \.number)
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) -> Int? {
        guard let number = read(key, "a whole number", \.integer) else { return nil }
        guard range.contains(number) else {
            problem(at: key, "\(key) must be from \(range.lowerBound) to \(range.upperBound), not \(number)")
            return nil
        }
        return Int(number)
    }

    func strings(_ key: String) -> [String]? {
        guard let elements = read(key, "a list of texts", \.array) else { return nil }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else {
            problem(at: key, "\(key) must be a list of texts in quotes")
            return nil
        }
        return texts
    }

    func duration(_ key: String) -> Duration? {
        guard let text = string(key) else { return nil }
        guard let duration = Quantity.duration(text), duration > .zero else {
            problem(
                at: key,
                "\(key) must be a duration such as \"250 ms\", \"2 s\", \"5 min\", \"24 h\" or \"29 d\", not \"\(text)\""
            )
            return nil
        }
        return duration
    }

    func size(_ key: String) -> Int? {
        guard let text = string(key) else { return nil }
        guard let bytes = Quantity.bytes(text), bytes > 0 else {
            problem(at: key, "\(key) must be a size such as \"500 MB\", not \"\(text)\"")
            return nil
        }
        return bytes
    }

    /// One of the words of an enumeration.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String, default value: Word) -> Word {
        guard let text = string(key) else { return value }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            problem(at: key, "\(key) must be one of \(words), not \"\(text)\"")
            return value
        }
        return word
    }

    /// The value itself, for keys of more than one kind.
    func value(_ key: String) -> TOMLValue? {
        known.append(key)
        return table[key]
    }

    // MARK: Tables

    /// The table `key`; an empty one when it is not there.
    func subtable(_ key: String) -> TableReader {
        let inner = read(key, "a table: [\(key)]", \.table)
        return TableReader(inner ?? TOMLTable(entries: [], position: table.position), file: file, report: report)
    }

    /// The tables of `[[key]]`.
    func subtables(_ key: String) -> [TableReader] {
        guard let elements = read(key, "a list of tables: [[\(key)]]", \.array) else { return [] }
        let tables = elements.compactMap(\.table)
        if tables.count != elements.count { problem(at: key, "\(key) must be written as [[\(key)]] tables") }
        return tables.map { TableReader($0, file: file, report: report) }
    }

    // MARK: Reports

    /// Reports that something is wrong with the value of `key`, or with the table when it has no such key.
    func problem(at key: String, _ text: String) {
        let position = table.entry(key)?.value.position ?? table.position
        report(ConfigurationProblem(file: file, line: position.line, column: position.column, text: text))
    }

    /// Reports that something is wrong at a place in the file.
    func report(at position: TOMLPosition, _ text: String) {
        report(ConfigurationProblem(file: file, line: position.line, column: position.column, text: text))
    }

    /// Whether the key is there.
    func has(_ key: String) -> Bool { table.entry(key) != nil }

    /// Reports every key that nobody asked for.
    func finish() {
        for unknown in table.unknownKeys(known: known) {
            let nearest = unknown.nearest.map { "; did you mean \"\($0)\"?" } ?? ""
            report(at: unknown.entry.position, "unknown key \"\(unknown.entry.key)\"\(nearest)")
        }
    }

    private func read<Result>(_ key: String, _ wanted: String, _ get: (TOMLValue) -> Result?) -> Result? {
        known.append(key)
        guard let value = table[key] else { return nil }
        guard let result = get(value) else {
            problem(at: key, "\(key) must be \(wanted), not \(value.kind)")
            return nil
        }
        return result
    }
}
