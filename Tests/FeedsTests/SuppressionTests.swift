import DataPoints
import Diagnostics
import Samples
import Testing

@testable import Feeds

@Suite("Dead band, change, precision") struct SuppressionTests {
    private func published(_ numbers: [Double], change: (inout Rule) -> Void) throws -> (values: [String], RuleCounts) {
        var rule = Rule(reference("host.load", "one_minute"), feed: feed("load"), every: .seconds(1))
        change(&rule)
        var engine = try RuleEngine([rule], device: "test")
        let rows = numbers.enumerated().map { (Double($0.offset), [Value.real($0.element), .missing]) }
        let points = engine.receive(batch(load, rows)) + engine.finish()
        return (points.map(\.value), engine.counts[0])
    }

    @Test("the dead band is measured from the last published value, so a slow drift is seen")
    func deadBandFromPublished() throws {
        let (values, counts) = try published([1, 1.5, 2, 2.5, 3, 3.5, 2.9, 1.4]) { $0.deadBand = 1 }

        #expect(values == ["1", "2.5", "1.4"])
        #expect(counts.suppressed == 5)
        #expect(counts.published == 3)
    }

    @Test("on change publishes only what reads differently, after rounding")
    func onChange() throws {
        let (values, _) = try published([1.01, 1.02, 1.04, 1.06, 1.1, 1.01]) {
            $0.onChange = true
            $0.precision = 1
        }

        #expect(values == ["1", "1.1", "1"])
    }

    @Test("precision rounds and leaves no trailing zeros")
    func precision() throws {
        let (values, _) = try published([1.2345, 2, -0.001, 1e-9]) { $0.precision = 2 }

        #expect(values == ["1.23", "2", "0", "0"])
    }

    @Test("on change works for words")
    func onChangeOfWords() throws {
        let rule = Rule(reference("words", "text"), feed: feed("f"), every: .seconds(1), onChange: true)
        var engine = try RuleEngine([rule], device: "test")
        let rows = ["a", "a", "b", "b", "a"].enumerated()
            .map { (Double($0.offset), [Value.text($0.element), .missing, .missing]) }

        let points = engine.receive(batch(words, rows)) + engine.finish()

        #expect(points.map(\.value) == ["a", "b", "a"])
    }

    @Test("after the switch was off and on again the first value is published, changed or not")
    func beginsAfresh() throws {
        let rule = Rule(reference("host.load", "one_minute"), feed: feed("f"), every: .seconds(1), onChange: true)
        var engine = try RuleEngine([rule], device: "test")
        var points = engine.receive(loads((0, 5), (1, 5), (2, 5)))
        points += engine.setRecording(false)
        points += engine.setRecording(true)

        points += engine.receive(loads((3, 5), (4, 5), (5, 5)))

        #expect(points.map(\.createdAt) == [at(1), at(4)])
    }
}
