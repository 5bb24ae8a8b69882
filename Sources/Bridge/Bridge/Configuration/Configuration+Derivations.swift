internal import Derivations
internal import Samples
internal import TOML

extension Configuration {
    /// One `[[derivation]]` table, or the `[[geofence]]` tables together.
    public struct Derived: Sendable, Equatable {
        /// Where it stands in the file.
        public var position: Position
        /// What it computes: one of the catalog's kinds.
        public var kind: String
        /// Its settings, as they were written.
        public var settings: [Setting]
        /// Whether its sources run while the switch is off, and what it computes is then kept outside sessions.
        public var always: Bool

        /// A key with a value as text; lists give several.
        public struct Setting: Sendable, Hashable {
            /// The key.
            public var key: String
            /// The value.
            public var value: String
        }
    }

    /// Reads all `[[derivation]]` and `[[geofence]]` tables.
    static func derivations(reading root: TableReader) -> [Derived] {
        var derived = root.subtables("derivation").compactMap { Derived(reading: $0) }
        let fences = root.subtables("geofence").compactMap { Derived.fence(reading: $0) }
        guard let first = fences.first else { return derived }
        let settings = fences.map(\.setting)
        if let place = derived.firstIndex(where: { $0.kind == GeofenceDerivation.kind }) {
            derived[place].settings += settings
        } else {
            let always = fences.contains(where: \.always)
            derived.append(
                Derived(position: first.position, kind: GeofenceDerivation.kind, settings: settings, always: always)
            )
        }
        return derived
    }

    /// Makes the derivations that the configuration names; what is wrong is told with its place.
    func makeDerivations() throws(ConfigurationError) -> [any Derivation] {
        var made: [any Derivation] = []
        var problems: [ConfigurationProblem] = []
        for derived in derivations {
            do {
                let settings = DerivationSettings(derived.settings.map { .init($0.key, $0.value) })
                made.append(try DerivationCatalog.make(derived.kind, settings))
            } catch {
                let position = derived.position
                problems.append(
                    ConfigurationProblem(
                        file: file,
                        line: position.line,
                        column: position.column,
                        text: error.description
                    )
                )
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return made
    }
}

extension Configuration.Derived {
    fileprivate init?(reading table: TableReader) {
        defer { table.finish() }
        let always = table.flag("always", default: false)
        let kinds = DerivationCatalog.kinds
        guard let word = table.string("kind") else {
            let names = kinds.map { "\"\($0.name)\"" }.joined(separator: ", ")
            table.problem(at: "kind", "kind is missing: one of \(names)")
            return nil
        }
        guard let kind = DerivationCatalog.kind(word) else {
            let nearest =
                TOMLTable.nearest(to: word, among: kinds.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
            let names = kinds.map { "\"\($0.name)\"" }.joined(separator: ", ")
            table.problem(at: "kind", "there is no derivation \"\(word)\": it is one of \(names)\(nearest)")
            return nil
        }
        let settings = kind.keys.flatMap { key in
            table.value(key).map { Self.texts($0).map { Setting(key: key, value: $0) } } ?? []
        }
        self.init(position: table.position, kind: word, settings: settings, always: always)
    }

    /// A value as text, a list as several.
    private static func texts(_ value: TOMLValue) -> [String] {
        if let list = value.array { return list.flatMap(texts) }
        if let text = value.string { return [text] }
        if let flag = value.boolean { return [flag ? "true" : "false"] }
        if let integer = value.integer { return ["\(integer)"] }
        return value.number.map { ["\($0)"] } ?? [""]
    }

    /// One `[[geofence]]` as the setting of the derivation.
    fileprivate static func fence(
        reading table: TableReader
    ) -> (position: Configuration.Position, setting: Setting, always: Bool)? {
        defer { table.finish() }
        let name = table.string("name")
        let always = table.flag("always", default: false)
        let numbers = ["lat", "lon", "radius"].map { key in
            let number = table.number(key)
            if number == nil, !table.has(key) { table.problem(at: key, "\(key) is missing: a [[geofence]] needs it") }
            return number
        }
        if name == nil, !table.has("name") { table.problem(at: "name", "name is missing: a [[geofence]] needs it") }
        guard let name, let lat = numbers[0], let lon = numbers[1], let radius = numbers[2] else { return nil }
        return (table.position, Setting(key: "fence", value: "\(name),\(lat),\(lon),\(radius)"), always)
    }
}
