import QRCode
import TestKit
import Testing

@Suite("QR codes", .timeLimit(.minutes(1))) struct QRCodeTests {
    /// The code as a picture (PBM), four dots a module.
    private func picture(_ code: QRCode) -> String {
        let side = (code.width + 8) * 4
        let rows = (0..<side).map { row in
            (0..<side).map { code.isDark(column: $0 / 4 - 4, row: row / 4 - 4) ? "1" : "0" }.joined(separator: " ")
        }
        return "P1\n\(side) \(side)\n\(rows.joined(separator: "\n"))\n"
    }

    @Test(
        "another program reads what was written",
        arguments: ["a", "http://192.0.2.1:8377/in/x?token=abc", "ümläut ✓"]
    )
    func isRead(_ text: String) async throws {
        let folder = TemporaryDirectory()
        let path = try folder.write(picture(try QRCode(text)), to: "code.pbm")

        let read = try await ChildProcess.run("zbarimg", ["-q", "--raw", path])

        #expect(read == text + "\n")
    }

    @Test("a terminal's lines hold the whole code with its border")
    func terminal() throws {
        let code = try QRCode("feedbridge")

        let lines = code.terminalLines()

        #expect(lines.count == (code.width + 9) / 2)
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[30;107m    ") && $0.hasSuffix("    \u{1B}[0m") })
    }

    @Test("what does not fit is refused", arguments: ["", "a\0b", String(repeating: "x", count: 3000)])
    func refused(_ text: String) {
        #expect(throws: QRCode.Failure.unusable) { try QRCode(text) }
    }
}
