import Diagnostics
import TestKit
import Testing

@Suite("Secret")
struct SecretTests {
    @Test("never prints what it holds")
    func neverPrints() {
        let secret = Secret("aio_hidden")
        var dumped = ""
        dump(secret, to: &dumped)

        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped) \([secret])".contains("hidden"))
    }

    private struct Account {
        var name = "ada"
        var key = Secret("aio_hidden")
        var keys = ["a": Secret("aio_hidden")]
        var maybe: Secret? = Secret("aio_hidden")
    }

    @Test("never shows inside of other values, printed, described, dumped or reflected")
    func neverShowsInside() {
        let account = Account()
        var dumped = ""
        dump(account, to: &dumped)
        var texts = [dumped, "\(account)", String(describing: account), String(reflecting: account), "\([account])"]
        texts.append("\(Optional(account) as Any) \(account as Any)")

        for text in texts { #expect(!text.contains("hidden"), "\(text)") }
        #expect(Self.reflected(account).allSatisfy { !$0.contains("hidden") })
        #expect(Self.reflected("aio_hidden").contains { $0.contains("hidden") })
    }

    @Test("cannot be encoded, hashed, or made from a literal")
    func cannotBeEncoded() {
        let secret: Any = Secret("aio_hidden")

        #expect(!(secret is any Encodable))
        #expect(!(secret is any Decodable))
        #expect(!(secret is any Hashable))
        #expect(!(secret is any LosslessStringConvertible))
        #expect(!(secret is any ExpressibleByStringLiteral))
        #expect(!(secret is any RawRepresentable))
        #expect(!(secret is any TextOutputStreamable))
    }

    /// Every text that a mirror of `value` leads to, all the way down.
    private static func reflected(_ value: Any, depth: Int = 0) -> [String] {
        guard depth < 8 else { return [] }
        let mirror = Mirror(reflecting: value)
        return ["\(value)", mirror.description]
            + mirror.children.flatMap { [$0.label ?? ""] + reflected($0.value, depth: depth + 1) }
    }

    @Test("compares by content")
    func compares() {
        #expect(Secret("a") == Secret("a"))
        #expect(Secret("a") != Secret("b"))
        #expect(Secret("a") != Secret("ab"))
    }
}

@Suite("Log")
struct LogTests {
    @Test("a text from outside cannot forge a line")
    func oneLine() {
        let lines = Guarded<[String]>([])
        let log = Log(program: "feedbridge") { line in lines.withLock { $0.append(line) } }

        log.warning("feed said: hello\nfeedbridge: all is well\u{1B}[2J")

        #expect(lines.withLock { $0 } == ["feedbridge: warning: feed said: hello feedbridge: all is well [2J\n"])
    }
}
