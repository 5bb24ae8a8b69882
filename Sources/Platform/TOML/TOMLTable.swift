/// A table of a TOML text: keys and values in the order of the text, each with its place.
public struct TOMLTable: Sendable, Hashable {
    /// A key with its value.
    public struct Entry: Sendable, Hashable {
        /// The key, without its table's name and without quotes.
        public var key: String
        /// Where the key starts.
        public var position: TOMLPosition
        /// What it is set to.
        public var value: TOMLValue

        /// Makes an entry.
        public init(key: String, position: TOMLPosition, value: TOMLValue) {
            self.key = key
            self.position = position
            self.value = value
        }
    }

    /// The entries in the order of the text.
    public var entries: [Entry]
    /// Where the table starts: its header, its brace, or the first key that made it.
    public var position: TOMLPosition

    /// Makes a table.
    public init(entries: [Entry], position: TOMLPosition) {
        self.entries = entries
        self.position = position
    }

    /// The entry of `key`, or nil when the table has none.
    public func entry(_ key: String) -> Entry? {
        entries.first { $0.key == key }
    }

    /// The value of `key`, or nil when the table has none.
    public subscript(_ key: String) -> TOMLValue? { entry(key)?.value }
}
