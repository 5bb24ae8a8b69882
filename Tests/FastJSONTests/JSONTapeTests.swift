import FastJSON
import Testing

@Suite("JSON on a tape") struct JSONTapeTests {
    private func tape(_ text: String) throws -> JSONTape {
        var parser = JSONTapeParser()
        return try parser.parse(Array(text.utf8))
    }

    @Test("numbers are exact, whichever way they are written")
    func numbers() throws {
        let tape = try tape("[1698501144401773001,-5,18446744073709551615,1.5,2e3,9007199254740993.0]")
        var whole: [Int64?] = []
        var real: [Double?] = []
        tape.forEachElement(of: tape.root) { node in
            whole.append(tape.int64(node))
            real.append(tape.double(node))
        }

        #expect(whole == [1_698_501_144_401_773_001, -5, nil, nil, 2000, 9_007_199_254_740_992])
        #expect(real[3] == 1.5)
        #expect(real[2] == 0x1p64)
    }

    @Test("members, texts, truth and nesting are found again")
    func members() throws {
        let tape = try tape(#"{"a":{"b":[{"c":"\u00e9\"x"},null,true]},"empty":"","last":false}"#)
        let inner = try #require(tape.member("a", of: tape.root).flatMap { tape.member("b", of: $0) })
        var kinds: [JSONTape.Kind] = []
        var text: String?
        tape.forEachElement(of: inner) { node in
            kinds.append(tape.kind(node))
            text = tape.member("c", of: node).flatMap(tape.string) ?? text
        }

        #expect(kinds == [.object, .null, .bool])
        #expect(text == "é\"x")
        #expect(tape.member("empty", of: tape.root).flatMap(tape.string) == "")
        #expect(tape.member("last", of: tape.root).flatMap(tape.bool) == false)
        #expect(tape.member("none", of: tape.root) == nil)
    }

    @Test("what stands at a place is nothing else than it is")
    func kinds() throws {
        let tape = try tape(#"["5",5,true,null,{},[]]"#)
        tape.forEachElement(of: tape.root) { node in
            let answers = [
                tape.text(node) != nil, tape.double(node) != nil, tape.bool(node) != nil, tape.kind(node) == .null,
                tape.kind(node) == .object, tape.kind(node) == .array,
            ]
            #expect(answers.count { $0 } == 1)
            tape.forEachMember(of: node) { _, _ in Issue.record("there is no member") }
        }
        #expect(try self.tape("7").root == tape.root)
    }

    @Test(
        "what is no JSON is refused",
        arguments: ["", " ", "{", "[1,]", "{\"a\":1,}", "nul", "01", "[NaN]", "\"\u{1}\"", "1 2", "'a'", "{a:1}"]
    )
    func refused(_ text: String) {
        #expect(throws: JSONError.self) { try tape(text) }
    }

    @Test("bytes that are no UTF-8, and too many levels, are refused, and the parser goes on")
    func hostile() throws {
        var parser = JSONTapeParser()
        #expect(throws: JSONError.self) { _ = try parser.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) {
            _ = try parser.parse(Array((String(repeating: "[", count: 100_000)).utf8))
        }
        #expect(throws: JSONError.self) {
            _ = try parser.parse(
                Array((String(repeating: "[", count: 33) + String(repeating: "]", count: 33)).utf8)
            )
        }
        let tape = try parser.parse(Array("[1]".utf8))
        #expect(tape.kind(tape.root) == .array)
    }

    @Test("a document of megabytes is read, and so is a small one after it")
    func large() throws {
        var parser = JSONTapeParser()
        let count = 300_000
        let tape = try parser.parse(Array("[\((0..<count).map { "\"text \($0)\"" }.joined(separator: ","))]".utf8))
        var number = 0
        tape.forEachElement(of: tape.root) { node in
            if tape.string(node) != "text \(number)" { Issue.record("element \(number)") }
            number += 1
        }

        #expect(number == count)
        let small = try parser.parse(Array("[\"a\"]".utf8))
        #expect(small.kind(small.root) == .array)
    }
}
