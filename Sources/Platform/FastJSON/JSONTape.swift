// Thread rule of simdjson: a parser belongs to one thread at a time. A tape is a copy and belongs to nobody.
internal import CSimdJSON

/// A JSON document as one flat row of words, for input of thousands of values: read by walking, without a value a node.
///
/// The words are those of simdjson's tape. A `Node` is a place on the tape it came from and means nothing on another.
public struct JSONTape: Sendable {
    @usableFromInline let words: [UInt64]
    @usableFromInline let strings: [UInt8]

    /// What stands at a place.
    public enum Kind: Sendable {
        /// An object.
        case object
        /// An array.
        case array
        /// A string.
        case string
        /// A number.
        case number
        /// `true` or `false`.
        case bool
        /// `null`.
        case null
    }

    /// A value's place on the tape.
    @frozen
    public struct Node: Sendable, Hashable {
        @usableFromInline let place: Int

        @usableFromInline
        init(_ place: Int) {
            self.place = place
        }
    }

    /// A string's place among the strings of its tape.
    @frozen
    public struct Text: Sendable, Hashable {
        /// Where its first byte is.
        public let start: Int
        /// How many bytes it has.
        public let count: Int

        @usableFromInline
        init(start: Int, count: Int) {
            self.start = start
            self.count = count
        }
    }

    fileprivate init(words: [UInt64], strings: [UInt8]) {
        self.words = words
        self.strings = strings
    }

    /// The whole document.
    public var root: Node { Node(1) }

    // MARK: Values

    /// What stands at `node`.
    public func kind(_ node: Node) -> Kind {
        switch tag(node.place) {
        case Tag.object: .object
        case Tag.array: .array
        case Tag.string: .string
        case Tag.integer, Tag.unsigned, Tag.real: .number
        case Tag.true, Tag.false: .bool
        default: .null
        }
    }

    /// The number at `node`; nil when it is none.
    @inlinable
    public func double(_ node: Node) -> Double? {
        guard node.place + 1 < words.count else { return nil }
        switch tag(node.place) {
        case Tag.real: return Double(bitPattern: words[node.place + 1])
        case Tag.integer: return Double(Int64(bitPattern: words[node.place + 1]))
        case Tag.unsigned: return Double(words[node.place + 1])
        default: return nil
        }
    }

    /// The number at `node` when it is whole and fits, however it is written.
    @inlinable
    public func int64(_ node: Node) -> Int64? {
        guard node.place + 1 < words.count else { return nil }
        switch tag(node.place) {
        case Tag.integer: return Int64(bitPattern: words[node.place + 1])
        case Tag.unsigned: return Int64(exactly: words[node.place + 1])
        case Tag.real: return Int64(exactly: Double(bitPattern: words[node.place + 1]))
        default: return nil
        }
    }

    /// The truth value at `node`; nil when it is none.
    public func bool(_ node: Node) -> Bool? {
        switch tag(node.place) {
        case Tag.true: true
        case Tag.false: false
        default: nil
        }
    }

    /// The string at `node`; nil when it is none.
    @inlinable
    public func text(_ node: Node) -> Text? {
        guard tag(node.place) == Tag.string else { return nil }
        return text(at: node.place)
    }

    /// The string at `node` as a `String`; nil when it is none.
    public func string(_ node: Node) -> String? {
        text(node).map(string)
    }

    /// A text as a `String`.
    public func string(_ text: Text) -> String {
        String(decoding: strings[text.start..<text.start + text.count], as: UTF8.self)
    }

    /// The bytes of a text.
    @inlinable
    public func bytes(_ text: Text) -> ArraySlice<UInt8> {
        strings[text.start..<text.start + text.count]
    }

    /// Whether a text has exactly these bytes.
    @inlinable
    public func equals(_ text: Text, _ other: [UInt8]) -> Bool {
        guard text.count == other.count else { return false }
        for offset in 0..<other.count where strings[text.start + offset] != other[offset] { return false }
        return true
    }

    // MARK: Inside

    /// Calls `body` with each member of an object; with none when `node` is something else.
    @inlinable
    public func forEachMember(of node: Node, _ body: (_ key: Text, _ value: Node) -> Void) {
        guard tag(node.place) == Tag.object else { return }
        let end = end(of: node.place)
        var place = node.place + 1
        while place + 1 < end {
            let value = place + 1
            body(text(at: place), Node(value))
            place = after(value)
        }
    }

    /// Calls `body` with each element of an array; with none when `node` is something else.
    @inlinable
    public func forEachElement(of node: Node, _ body: (Node) -> Void) {
        guard tag(node.place) == Tag.array else { return }
        let end = end(of: node.place)
        var place = node.place + 1
        while place < end {
            body(Node(place))
            place = after(place)
        }
    }

    /// The first member of an object called `key`; nil when there is none.
    public func member(_ key: String, of node: Node) -> Node? {
        let key = Array(key.utf8)
        var found: Node?
        forEachMember(of: node) { text, value in
            if found == nil, equals(text, key) { found = value }
        }
        return found
    }

    // MARK: Words

    /// The top byte of a word says what it is.
    @usableFromInline
    enum Tag {
        @usableFromInline static let object = UInt8(ascii: "{")
        @usableFromInline static let array = UInt8(ascii: "[")
        @usableFromInline static let string = UInt8(ascii: "\"")
        @usableFromInline static let integer = UInt8(ascii: "l")
        @usableFromInline static let unsigned = UInt8(ascii: "u")
        @usableFromInline static let real = UInt8(ascii: "d")
        @usableFromInline static let `true` = UInt8(ascii: "t")
        @usableFromInline static let `false` = UInt8(ascii: "f")
    }

    @inlinable
    func tag(_ place: Int) -> UInt8 { place < words.count ? UInt8(words[place] >> 56) : 0 }

    @inlinable
    func payload(_ place: Int) -> Int { Int(words[place] & 0x00FF_FFFF_FFFF_FFFF) }

    /// The place of the closing bracket of what opens at `place`. Its word holds the place behind that, and a count.
    @inlinable
    func end(of place: Int) -> Int { min(Int(words[place] & 0xFFFF_FFFF), words.count) - 1 }

    /// The place of the value behind the one at `place`.
    @inlinable
    func after(_ place: Int) -> Int {
        switch tag(place) {
        case Tag.object, Tag.array: end(of: place) + 1
        case Tag.integer, Tag.unsigned, Tag.real: place + 2
        default: place + 1
        }
    }

    /// The string that begins at a word: its offset leads to four bytes of length in this machine's order, then the bytes.
    @inlinable
    func text(at place: Int) -> Text {
        let offset = payload(place)
        guard offset >= 0, offset + 4 <= strings.count else { return Text(start: 0, count: 0) }
        let count = strings.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        guard offset + 4 + Int(count) <= strings.count else { return Text(start: 0, count: 0) }
        return Text(start: offset + 4, count: Int(count))
    }
}

/// Reads JSON documents into tapes; keeps its memory between documents that are not large.
///
/// Not safe for two threads at a time; whoever owns it sees to that.
public struct JSONTapeParser: ~Copyable {
    private var parser: OpaquePointer?
    /// A parser keeps what its largest document needed; above this it is thrown away.
    private static let largestKept = 1 << 20

    /// Makes a parser.
    public init() {}

    deinit {
        if let parser { simdjson_tape_parser_free(parser) }
    }

    /// Reads one JSON value from UTF-8 bytes; nothing may follow it but white space.
    ///
    /// Strict: no comments, no trailing commas, no NaN, valid UTF-8, at most `depth` levels. A number that fits neither
    /// 64 bits nor a `Double` is an error.
    public mutating func parse(_ bytes: [UInt8], depth: Int = 32) throws(JSONError) -> JSONTape {
        guard !bytes.isEmpty else { throw JSONError(message: "empty", offset: 0) }
        guard let parser = parser ?? simdjson_tape_parser_new() else {
            throw JSONError(message: "out of memory", offset: 0)
        }
        self.parser = parser
        defer {
            if bytes.count > Self.largestKept {
                simdjson_tape_parser_free(parser)
                self.parser = nil
            }
        }
        let tape = simdjson_tape_parse(parser, bytes, bytes.count, depth)
        if let error = tape.error { throw JSONError(message: String(cString: error), offset: 0) }
        return JSONTape(
            words: Array(UnsafeBufferPointer(start: tape.words, count: tape.word_count)),
            strings: Array(UnsafeBufferPointer(start: tape.strings, count: tape.string_bytes))
        )
    }
}
