internal import CTOMLPlusPlus
internal import FastJSON

/// A TOML text that was read.
public struct TOMLDocument: Sendable, Hashable {
    /// What was read: a file's name, for errors.
    public let name: String
    /// The table that holds everything.
    public let root: TOMLTable

    /// Reads `text`; at most 16 values and 32 tables within each other. Any thread may call it.
    public init(parsing text: String, name: String) throws(TOMLError) {
        var text = text
        // An empty text may have no address; the library wants one.
        let outcome = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { toml_to_json($0, characters.count) } ?? toml_to_json("", 0)
            }
        }
        defer { toml_outcome_free(outcome) }
        if let message = outcome.message {
            throw TOMLError(
                name: name,
                position: TOMLPosition(line: Int(outcome.line), column: Int(outcome.column)),
                message: String(cString: message)
            )
        }
        guard let json = outcome.json else {
            throw TOMLError(name: name, position: TOMLPosition(line: 0, column: 0), message: "memory ran out")
        }
        let tree: JSON
        do throws(JSONError) {
            // A table within a table is three levels of JSON.
            tree = try JSON.parse(String(cString: json), depth: 128)
        } catch {
            preconditionFailure("what CTOMLPlusPlus writes is \(error)")
        }
        guard case .table(let root) = TOMLValue(node: tree) else {
            preconditionFailure("CTOMLPlusPlus wrote a node that is not as its header says")
        }
        self.name = name
        self.root = root
    }
}

extension TOMLPosition {
    fileprivate init(node: JSON) {
        self.init(line: node["l"]?.int ?? 0, column: node["c"]?.int ?? 0)
    }
}

extension TOMLValue {
    /// Reads a node as `CTOMLPlusPlus.h` describes it; nil when it is not one.
    fileprivate init?(node: JSON) {
        guard let type = node["t"]?.string, let value = node["v"] else { return nil }
        let position = TOMLPosition(node: node)
        switch (type, value) {
        case ("table", .array(let members)):
            var entries: [TOMLTable.Entry] = []
            entries.reserveCapacity(members.count)
            for member in members {
                guard let key = member["k"]?.string, let value = member["n"].flatMap(TOMLValue.init(node:)) else {
                    return nil
                }
                entries.append(TOMLTable.Entry(key: key, position: TOMLPosition(node: member), value: value))
            }
            self = .table(TOMLTable(entries: entries, position: position))
        case ("array", .array(let elements)):
            let values = elements.compactMap(TOMLValue.init(node:))
            guard values.count == elements.count else { return nil }
            self = .array(values, at: position)
        case ("string", .string(let text)):
            self = .string(text, at: position)
        case ("integer", .string(let text)):
            guard let number = Int64(text) else { return nil }
            self = .integer(number, at: position)
        case ("float", .string(let text)):
            guard let number = Double(text) else { return nil }
            self = .float(number, at: position)
        case ("boolean", .string(let text)):
            self = .boolean(text == "true", at: position)
        case ("date", .string(let text)):
            self = .date(text, at: position)
        default:
            return nil
        }
    }
}
