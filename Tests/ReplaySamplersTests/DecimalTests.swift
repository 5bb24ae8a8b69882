import Foundation
import Testing

@testable import ReplaySamplers

@Suite("Numbers of a file") struct DecimalTests {
    private func scaled(_ text: String, _ scale: Int) -> Int64? {
        withBytes(text) { Decimal($0)?.scaled(by: scale) }
    }

    private func number(_ text: String) -> Double? { withBytes(text) { ReplaySamplers.Decimal.number($0) } }

    @Test(
        "times keep every digit",
        arguments: [
            ("1790000000123456789", 0, 1_790_000_000_123_456_789),
            ("1790000000.123456789", 9, 1_790_000_000_123_456_789),
            ("1790000000123.456789", 6, 1_790_000_000_123_456_789),
            ("1790000000.1234567891234", 9, 1_790_000_000_123_456_789),
            ("-0.5", 9, -500_000_000), ("+7", 9, 7_000_000_000), ("1.79e9", 9, 1_790_000_000_000_000_000),
            (".5", 9, 500_000_000),
            ("5.", 9, 5_000_000_000), ("1.790000000123456789E+18", 0, 1_790_000_000_123_456_789), ("0", 9, 0),
            ("0.0000000000000000000000001", 9, 0), ("00000000000000000000000000012", 0, 12),
        ] as [(String, Int, Int64)]
    )
    func times(_ text: String, _ scale: Int, _ expected: Int64) {
        #expect(scaled(text, scale) == expected)
    }

    @Test(
        "what is no number is none",
        arguments: ["", "-", ".", "x", "1x", "1e", "1e+", "1.2.3", "--1", "1 2", "e5", "1e5x"]
    )
    func noNumbers(_ text: String) {
        #expect(scaled(text, 0) == nil)
        #expect(number(text) == nil)
    }

    @Test("what does not fit is no time", arguments: ["99999999999999999999", "1e30", "9223372036.9"])
    func tooLarge(_ text: String) {
        #expect(scaled(text, 9) == nil)
    }

    @Test("numbers are read to the last bit, as strtod reads them")
    func exactNumbers() {
        var generator = SystemRandomNumberGenerator()
        var texts = [
            "0.1", "1e23", "9007199254740993", "2.2250738585072011e-308", "1.7976931348623157e308", "-0.0",
            "123456789012345678901234567890",
        ]
        for _ in 0..<20_000 {
            let bits = Double(bitPattern: generator.next())
            if bits.isFinite { texts.append("\(bits)") }
            texts.append("\(Double.random(in: -100...100))")
            texts.append("\(Int.random(in: -1_000_000...1_000_000)).\(Int.random(in: 0...99_999_999))")
        }
        for text in texts {
            #expect(number(text)?.bitPattern == strtod(text, nil).bitPattern, "\(text)")
        }
    }

    @Test("NaN and infinity are read, so that they can become missing")
    func notFinite() {
        #expect(number("NaN")?.isNaN == true)
        #expect(number("nan")?.isNaN == true)
        #expect(number("-inf") == -.infinity)
        #expect(number("Infinity") == .infinity)
    }
}
