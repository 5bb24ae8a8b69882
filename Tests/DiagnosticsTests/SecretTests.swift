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
