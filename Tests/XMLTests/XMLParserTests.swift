import Testing
import XML

/// Writes down what it is told.
private final class Notes: XMLHandler {
    var lines: [String] = []
    private var text = ""

    func begin(_ element: XMLElement) {
        flush()
        var line = "<\(element.name.string)"
        element.forEachAttribute { line += " \($0.string)=\($1.string)" }
        lines.append(line)
    }

    func end(_ name: XMLText) {
        flush()
        lines.append(">\(name.string)")
    }

    func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        text += String(decoding: bytes, as: UTF8.self)
    }

    private func flush() {
        let trimmed = text.filter { $0 != "\n" }
        if !trimmed.isEmpty { lines.append(trimmed) }
        text = ""
    }
}

@Suite("XML")
struct XMLParserTests {
    private func notes(_ document: String, pieces size: Int = .max) throws -> [String] {
        let notes = Notes()
        let parser = XMLParser(notes)
        let bytes = Array(document.utf8)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, size == .max ? bytes.count : start + size)
            try bytes[start..<end].withUnsafeBytes { try parser.parse($0, isLast: false) }
            start = end
        }
        try parser.parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        return notes.lines
    }

    @Test("a document is told in its order, however its bytes arrive", arguments: [1, 3, Int.max])
    func tells(size: Int) throws {
        let document =
            "\u{FEFF}<?xml version=\"1.0\"?><!-- no --><a b=\"1 &amp; é\" c='2'><d/>x &lt; y<e><![CDATA[<z>]]></e></a>"
        #expect(
            try notes(document, pieces: size) == [
                "<a b=1 & é c=2", "<d", ">d", "x < y", "<e", "<z>", ">e", ">a",
            ]
        )
    }

    @Test("what is not well-formed is one error with its place")
    func places() {
        #expect(throws: XMLError(line: 2, column: 8, reason: "mismatched tag")) {
            try notes("<a>\n  <b></c></a>")
        }
        #expect(throws: XMLError(line: 1, column: 4, reason: "no element found")) { try notes("<a>") }
        #expect(throws: XMLError.self) { try notes("") }
    }

    @Test("names are compared whole, and without their prefix where asked")
    func names() throws {
        final class Names: XMLHandler {
            var found: [String] = []
            func begin(_ element: XMLElement) {
                switch element.name.local {
                case "cad": found.append(element["unit"]?.string ?? "-")
                case "ca", "cade": found.append("?")
                default: break
                }
                #expect(element["no"] == nil)
            }
            func end(_ name: XMLText) {}
        }
        let names = Names()
        let parser = XMLParser(names, wantsCharacters: false)
        let bytes = Array("<x:all xmlns:x='u'><x:cad unit='rpm'/><cad/><ca/></x:all>".utf8)
        try bytes.withUnsafeBytes { try parser.parse($0, isLast: true) }
        #expect(names.found == ["rpm", "-", "?"])
    }

    @Test("entities that multiply are refused, and files outside are never read")
    func hostile() throws {
        var bomb = "<!DOCTYPE a [<!ENTITY e0 \"ha\">"
        for level in 1...12 {
            let previous = String(repeating: "&e\(level - 1);", count: 10)
            bomb += "<!ENTITY e\(level) \"\(previous)\">"
        }
        #expect(throws: XMLError.self) { try notes(bomb + "]><a>&e12;</a>") }
        #expect(
            try notes("<!DOCTYPE a [<!ENTITY f SYSTEM \"/etc/passwd\">]><a>&f;</a>") == ["<a", ">a"]
        )
    }
}
