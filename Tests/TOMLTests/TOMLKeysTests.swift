import TOML
import Testing

@Suite("The keys of a table")
struct TOMLKeysTests {
    @Test("that nobody knows are found with their place and the key that was probably meant")
    func unknownKeys() throws {
        let document = try TOMLDocument(
            parsing: "feed = \"a\"\nstatus-feed = \"b\"\non_strat = \"on\"\nfee = 1\nzebra = 1\n",
            name: "a.toml"
        )

        let unknown = document.root.unknownKeys(known: ["feed", "status_feed", "on_start", "write_back"])

        #expect(unknown.map(\.entry.key) == ["status-feed", "on_strat", "fee", "zebra"])
        #expect(unknown.map(\.entry.position.line) == [2, 3, 4, 5])
        // `fee` may mean `feed`, which is set already.
        #expect(unknown.map(\.nearest) == ["status_feed", "on_start", nil, nil])
    }

    @Test(
        "are near when a letter is missing, added, changed or swapped",
        arguments: [
            ("evry", "every"), ("everyy", "every"), ("avery", "every"), ("eveyr", "every"), ("Every", "every"),
            ("max bytes", "max_bytes"), ("smallest_freee", "smallest_free"),
        ]
    )
    func near(word: String, meant: String) {
        let keys = ["every", "max_bytes", "smallest_free", "feed", "field"]

        #expect(TOMLTable.nearest(to: word, among: keys) == meant)
    }

    @Test("are not near when they only share letters", arguments: ["", "e", "year", "colour", "bytes"])
    func far(word: String) {
        #expect(TOMLTable.nearest(to: word, among: ["every", "max_bytes", "feed"]) == nil)
    }

    @Test("are compared in bounded time, however long they are")
    func long() {
        let word = String(repeating: "a", count: 1_000_000)

        #expect(TOMLTable.nearest(to: word, among: [word + "b", "every"]) == word + "b")
    }
}
