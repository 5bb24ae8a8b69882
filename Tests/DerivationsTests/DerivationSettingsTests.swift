import Testing

@testable import Derivations

@Suite("Settings of derivations")
struct DerivationSettingsTests {
    @Test("a number out of range is refused with the range")
    func refusesNumbers() {
        let settings = DerivationSettings([.init("height", "17.5")])

        #expect(throws: DerivationError("height is \"17.5\", but must be a number from 0.5 to 2.5.")) {
            try settings.number("height", in: 0.5...2.5, usual: 1.7)
        }
    }

    @Test("the last of two values of a key counts, and lists keep all")
    func keepsAll() throws {
        let settings = DerivationSettings([.init("height", "1.5"), .init("height", "1.8")])

        #expect(try settings.number("height", in: 0.5...2.5, usual: 1.7) == 1.8)
        #expect(settings.texts("height") == ["1.5", "1.8"])
        #expect(try settings.number("other", in: 0...1, usual: 0.5) == 0.5)
    }

    @Test("a kind that is not there is refused with those that are")
    func refusesKinds() {
        #expect(throws: DerivationError.self) { try DerivationCatalog.make("stepz") }
    }
}
