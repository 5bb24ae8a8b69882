import TOML
import Testing

@Suite("A TOML text")
struct TOMLDocumentTests {
    private let text = """
        name = "greenhouse"   # a comment

        [account]
        username = 'ada'
          share = 0.5
        tries = -3

        [switch]
        on_words = ["an", "ein"]
        write_back = false

        [[sampler]]
        kind = "host"

        [[sampler]]
        kind = "replay"
        fence = { lat = 40.5, "a key" = 1979-05-27T07:32:00Z }
        """

    @Test("gives every key and value its line and column")
    func positions() throws {
        let document = try TOMLDocument(parsing: text, name: "a.toml")

        let root = document.root
        #expect(root.entries.map(\.key) == ["name", "account", "switch", "sampler"])
        #expect(root.entry("name")?.position == TOMLPosition(line: 1, column: 1))
        #expect(root["name"] == .string("greenhouse", at: TOMLPosition(line: 1, column: 8)))
        let account = try #require(root["account"]?.table)
        #expect(account.position.line == 3)
        #expect(account.entry("share")?.position == TOMLPosition(line: 5, column: 3))
        #expect(account["share"] == .float(0.5, at: TOMLPosition(line: 5, column: 11)))
        #expect(account["tries"] == .integer(-3, at: TOMLPosition(line: 6, column: 9)))
        let words = try #require(root["switch"]?.table?["on_words"]?.array)
        #expect(words.map(\.string) == ["an", "ein"])
        #expect(words.map(\.position) == [TOMLPosition(line: 9, column: 13), TOMLPosition(line: 9, column: 19)])
        let samplers = try #require(root["sampler"]?.array)
        #expect(samplers.map { $0.position.line } == [12, 15])
        let fence = try #require(samplers.last?.table?["fence"]?.table)
        #expect(fence.entry("a key")?.position == TOMLPosition(line: 17, column: 23))
        #expect(fence["a key"]?.kind == "a date")
        #expect(fence["a key"] == .date("1979-05-27T07:32:00Z", at: TOMLPosition(line: 17, column: 33)))
    }

    @Test("keeps keys in the order of the text, not of the alphabet")
    func order() throws {
        let document = try TOMLDocument(parsing: "z = 1\na = 2\nm.y = 3\nm.b = 4\n", name: "a.toml")

        #expect(document.root.entries.map(\.key) == ["z", "a", "m"])
        #expect(document.root["m"]?.table?.entries.map(\.key) == ["y", "b"])
    }

    @Test(
        "keeps values exact",
        arguments: [
            ("9223372036854775807", TOMLValue.integer(.max, at: TOMLPosition(line: 1, column: 5))),
            ("0xff", .integer(255, at: TOMLPosition(line: 1, column: 5))),
            ("1_000", .integer(1000, at: TOMLPosition(line: 1, column: 5))),
            ("0.1", .float(0.1, at: TOMLPosition(line: 1, column: 5))),
            ("1.7976931348623157e308", .float(1.7976931348623157e308, at: TOMLPosition(line: 1, column: 5))),
            ("-inf", .float(-.infinity, at: TOMLPosition(line: 1, column: 5))),
            (#""\u0000\"\\\n\u007f°😀""#, .string("\0\"\\\n\u{7F}°😀", at: TOMLPosition(line: 1, column: 5))),
            ("true", .boolean(true, at: TOMLPosition(line: 1, column: 5))),
            ("07:32:00.5", .date("07:32:00.5", at: TOMLPosition(line: 1, column: 5))),
        ]
    )
    func exactValues(source: String, value: TOMLValue) throws {
        #expect(try TOMLDocument(parsing: "v = \(source)", name: "a.toml").root["v"] == value)
    }

    @Test("counts columns in characters, not in bytes")
    func columns() throws {
        let document = try TOMLDocument(parsing: "a = { b = \"äöü°\", c = 1 }", name: "a.toml")

        #expect(document.root["a"]?.table?.entry("c")?.position == TOMLPosition(line: 1, column: 19))
    }

    @Test("may be empty", arguments: ["", "\n\n", "# only talk", "\u{FEFF}"])
    func empty(text: String) throws {
        #expect(try TOMLDocument(parsing: text, name: "a.toml").root.entries.isEmpty)
    }

    @Test(
        "that is wrong is refused with its line, its column and a sentence",
        arguments: [
            ("a = 1\nb = = 2\n", 2, 5, "could not determine value type"),
            ("a = 1\n\na = 2\n", 3, 5, "cannot redefine existing integer 'a'"),
            ("[a]\n[a]\n", 2, 1, "cannot redefine existing table 'a'"),
            ("a = \"no end", 1, 12, "end-of-file"),
            ("a = 1\n[ ]\n", 2, 3, "blank bare keys"),
            ("a = 1\n[äö]\n", 2, 2, "a key was expected here"),
            ("# °\n\n[[ °x]]\n", 3, 4, "a key was expected here"),
            ("a = 99999999999999999999", 1, 25, "not representable in 64 bits"),
        ]
    )
    func wrong(text: String, line: Int, column: Int, message: String) throws {
        let error = try #require(throws: TOMLError.self) {
            try TOMLDocument(parsing: text, name: "a.toml")
        }

        #expect(error.line == line)
        #expect(error.column == column)
        #expect(error.message.contains(message))
        #expect(error.description.hasPrefix("a.toml:\(line):\(column): the text is not TOML: "))
    }
}
