import TOML
import Testing

/// Numbers that look random and are the same in every run (SplitMix64).
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("A hostile TOML text")
struct HostileTextTests {
    @Test(
        "cannot exhaust the stack",
        arguments: [
            "a = " + String(repeating: "[", count: 200_000),
            "a = " + String(repeating: "{a=", count: 200_000),
            "a" + String(repeating: ".a", count: 500_000) + " = 1",
            "[a" + String(repeating: ".a", count: 500_000) + "]",
            "[[a" + String(repeating: ".a", count: 500_000) + "]]",
            "a" + String(repeating: " . \"a\"", count: 500_000) + " = 1",
        ]
    )
    func deep(text: String) {
        #expect(throws: TOMLError.self) { try TOMLDocument(parsing: text, name: "deep.toml") }
    }

    @Test("is read down to its deepest allowed level")
    func deepestAllowed() throws {
        let keys = Array(repeating: "a", count: 32).joined(separator: ".")

        #expect(try TOMLDocument(parsing: keys + " = 1", name: "deep.toml").root.entries.count == 1)
        let error = try #require(throws: TOMLError.self) {
            try TOMLDocument(parsing: "a." + keys + " = 1", name: "deep.toml")
        }
        #expect(error.message == "values are nested more than 32 levels deep")
    }

    @Test("of random bytes is read or refused with a place", arguments: 1...8 as ClosedRange<UInt64>)
    func randomBytes(seed: UInt64) {
        var dice = Dice(state: seed)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...60, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            read(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("of random pieces of TOML is read or refused with a place", arguments: 1...8 as ClosedRange<UInt64>)
    func randomPieces(seed: UInt64) {
        let pieces = [
            "a", "b", ".", "=", " = ", "\n", "[", "]", "[[", "]]", "{", "}", ",", "\"", "'", "\"\"\"", "'''", "\\u00",
            "\\", "#", "1", "-", "+", "_", "0x", "e", ":", "T", "Z", "1979-05-27", "07:32:00", "inf", "nan", "true",
            "false", "\r\n", "\t", "\u{0}", "\u{85}", "°", "😀", "\"a\" = 1\n", "[a]\n", "[[a]]\n", "a.b = 1\n",
        ]
        var dice = Dice(state: seed)
        for _ in 0..<4000 {
            let count = Int.random(in: 1...24, using: &dice)
            read((0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &dice)] }.joined())
        }
    }

    private func read(_ text: String) {
        do throws(TOMLError) {
            let document = try TOMLDocument(parsing: text, name: "random.toml")
            #expect(document.root.entries.allSatisfy { $0.position.line > 0 && $0.position.column > 0 }, "\(text)")
        } catch {
            #expect(error.line > 0 && error.column > 0 && !error.message.isEmpty, "\(text.debugDescription): \(error)")
        }
    }
}
