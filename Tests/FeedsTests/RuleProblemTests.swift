import DataPoints
import Diagnostics
import Samples
import Testing

@testable import Feeds

@Suite("Problems of rules") struct RuleProblemTests {
    private func problems(_ rules: [Rule], othersMayCome: Bool = false) -> [RuleProblem] {
        Rule.problems(of: rules, device: "d", streams: [load, words, place], othersMayCome: othersMayCome)
    }

    private func rule(
        _ stream: String = "host.load",
        _ field: String = "one_minute",
        change: (inout Rule) -> Void = { _ in }
    )
        -> Rule
    {
        var rule = Rule(reference(stream, field), feed: feed("load"), every: .seconds(10))
        change(&rule)
        return rule
    }

    @Test("a right rule has none")
    func none() {
        #expect(problems([rule()]).isEmpty)
    }

    @Test("two rules for one feed are found at the second")
    func doubleFeed() {
        let found = problems([rule(), rule("words", "flag")])

        #expect(found.map(\.rule) == [1])
        #expect(found.map(\.key) == [.feed])
    }

    @Test("each wrong value is told with its key")
    func keys() {
        let wrong: [(RuleKey, Rule)] = [
            (.stream, rule("host.lod")),
            (.field, rule("host.load", "one")),
            (.every, rule { $0.every = .zero }),
            (.every, rule { $0.every = .seconds(-5) }),
            (.every, rule { $0.every = .seconds(86_400 * 1_000_000) }),
            (.deadBand, rule { $0.deadBand = -1 }),
            (.deadBand, rule { $0.deadBand = .nan }),
            (.deadBand, rule("words", "text") { $0.deadBand = 1 }),
            (.precision, rule { $0.precision = 16 }),
            (.precision, rule { $0.precision = -1 }),
            (.weight, rule { $0.weight = 0 }),
            (.weight, rule { $0.weight = .infinity }),
            (.reduce, rule("words", "text") { $0.reduction = .mean }),
            (.location, rule { $0.location = name("nowhere") }),
            (.location, rule { $0.location = name("words") }),
            (.fields, Rule(composite: [], feed: feed("load"), every: .seconds(1))),
            (
                .fields,
                Rule(
                    composite: [reference("words", "flag"), reference("words", "flag")],
                    feed: feed("load"),
                    every: .seconds(1)
                )
            ),
            (.fields, Rule(composite: [reference("words", "flog")], feed: feed("load"), every: .seconds(1))),
        ]
        for (key, rule) in wrong {
            let found = problems([rule])
            #expect(found.map(\.key) == [key], "\(key): \(found)")
            #expect(found.allSatisfy { $0.text.hasSuffix(".") || $0.text.hasSuffix("?") })
        }
    }

    @Test("a stream that may come later is no problem")
    func mayCome() {
        #expect(problems([rule("phone.accelerometer", "x")], othersMayCome: true).isEmpty)
    }

    @Test("the points a minute follow from the length of the window")
    func rate() {
        #expect(rule().pointsPerMinute == 6)
        #expect(rule { $0.every = .milliseconds(500) }.pointsPerMinute == 120)
    }

    @Test("a reference is read up to its last dot")
    func references() {
        #expect(FieldReference("host.load.one_minute") == reference("host.load", "one_minute"))
        #expect(FieldReference("x") == nil)
        #expect(FieldReference("Host.x") == nil)
        #expect(FieldReference(".x") == nil)
        #expect(FieldReference("host.") == nil)
    }

    @Test("a stream whose fields are not those of the rule is counted and makes nothing")
    func otherFields() throws {
        var engine = try RuleEngine([rule("host.load", "gone")], device: "d")

        _ = engine.receive(loads((1, 1)))

        #expect(engine.finish().isEmpty)
        #expect(engine.counts[0].unusable == 1)
    }
}
