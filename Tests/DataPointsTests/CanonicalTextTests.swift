import DataPoints
import Testing

@Suite("Canonical text")
struct CanonicalTextTests {
    @Test(
        "numbers become the shortest text that reads back the same",
        arguments: [
            (0.1, "0.1"), (1, "1"), (-0.0, "0"), (22.587, "22.587"), (1e15, "1000000000000000"), (1.5e-7, "0.00000015"),
            (-2.5e-10, "-0.00000000025"), (1.0 / 3, "0.3333333333333333"), (123_456_789.125, "123456789.125"),
        ]
    )
    func shortest(number: Double, text: String) {
        #expect(CanonicalText.number(number) == text)
        #expect(Double(text) == number)
    }

    @Test(
        "with a precision they are rounded first, and zeros at the end are left out",
        arguments: [
            (2.346, 2, "2.35"), (2.5, 0, "2"), (2.0004, 3, "2"), (-0.0004, 3, "0"), (99.999, 1, "100"), (1e300, 2, nil),
        ]
            as [(Double, Int, String?)]
    )
    func precision(number: Double, precision: Int, text: String?) {
        let found = CanonicalText.number(number, precision: precision)
        if let text { #expect(found == text) } else { #expect(found.flatMap(Double.init) == number) }
    }

    @Test("NaN and infinities have no text", arguments: [Double.nan, .infinity, -.infinity])
    func none(number: Double) {
        #expect(CanonicalText.number(number) == nil)
    }

    @Test("any number reads back the same")
    func roundTrip() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            let text = CanonicalText.number(number)
            #expect(text.flatMap(Double.init) == (number == 0 ? 0 : number), "\(number) gave \(text ?? "nil")")
        }
    }
}
