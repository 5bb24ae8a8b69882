import Testing

@testable import FastJSON

@Suite("JSON")
struct JSONTests {
    @Test("numbers keep their text and 19 digits stay exact")
    func numbersKeepTheirText() throws {
        let value = try JSON.parse(#"{"a":1.10,"b":1698501144401123456,"c":-0.5e-3,"d":7}"#)

        #expect(value["a"] == .number(JSONNumber(written: "1.10")))
        #expect(value["b"]?.int64 == 1_698_501_144_401_123_456)
        #expect(value["c"]?.double == -0.0005)
        #expect(value["d"]?.int == 7)
        #expect(value.serialized() == #"{"a":1.10,"b":1698501144401123456,"c":-0.5e-3,"d":7}"#)
    }

    @Test(
        "reads every kind of value",
        arguments: ["null", "true", "false", "0", "-1", "\"\"", "[]", "{}", " [1, 2] \n"]
    )
    func readsAll(text: String) throws {
        let value = try JSON.parse(text)

        #expect(value.serialized() == text.filter { !$0.isWhitespace })
    }

    @Test("the last of two members with one key counts")
    func lastWins() throws {
        #expect(try JSON.parse(#"{"a":1,"a":2}"#).serialized() == #"{"a":2}"#)
    }

    @Test("strings hold any character and come back the same")
    func strings() throws {
        let value = try JSON.parse(#""a\u0000\"\\\/\n\u00e9\ud83d\ude00 é""#)

        #expect(value == .string("a\u{0}\"\\/\né😀 é"))
        #expect(try JSON.parse(value.serialized()) == value)
    }

    @Test(
        "refuses what is not JSON",
        arguments: [
            "", " ", "{", "[1,", "[1,]", "{\"a\":}", "NaN", "Infinity", "-Infinity", "nul", "tru", "1 2", "[1]x",
            "\"abc", "01", "1.", "/* c */ 1", "[NaN]", "\u{FEFF}{}",
        ]
    )
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test("refuses invalid UTF-8")
    func refusesInvalidUTF8() {
        #expect(throws: JSONError.self) { try JSON.parse([0x22, 0xFF, 0x22]) }
    }

    @Test("stops at the stated depth instead of exhausting the stack")
    func depth() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)

        #expect(throws: JSONError.self) { try JSON.parse(deep) }
    }

    @Test("random bytes never crash it")
    func randomBytes() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array(#"{}[]",:0123456789eE+-.truefalsn\u "#.utf8) + [0, 0xFF, 0xC3]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if let value = try? JSON.parse(bytes) {
                #expect((try? JSON.parse(value.serialized())) == value)
            }
        }
    }

    @Test("indents for people")
    func indents() {
        let value: JSON = ["a": [1, true, nil], "b": [:], "c": "x"]

        #expect(
            value.serializedForPeople()
                == "{\n  \"a\": [\n    1,\n    true,\n    null\n  ],\n  \"b\": {},\n  \"c\": \"x\"\n}"
        )
    }
}
