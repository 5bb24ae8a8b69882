import DataPoints
import Diagnostics
import Samples
import Testing

@testable import Feeds

@Suite("Windows") struct WindowTests {
    private func engine(
        _ reduction: Reduction = .mean,
        every: Duration = .seconds(10),
        change: (inout Rule) -> Void = { _ in }
    ) throws -> RuleEngine {
        var rule = Rule(reference("host.load", "one_minute"), feed: feed("load"), reduction: reduction, every: every)
        change(&rule)
        return try RuleEngine([rule], device: "test", streams: [load, words, place])
    }

    @Test("a window closes when a later sample passes its end, and its point carries the end")
    func closesOnLaterSample() throws {
        var engine = try engine()

        #expect(engine.receive(loads((20, 1), (24, 2), (29.999_999_999, 3))).isEmpty)
        let points = engine.receive(loads((30, 7)))

        #expect(points == [DataPoint(feed: feed("load"), value: "2", createdAt: at(30))])
    }

    @Test("windows begin at multiples of their length, before 1970 too")
    func alignsToMultiples() throws {
        var engine = try engine(.count)

        let points = engine.receive(loads((-11, 1), (-10, 1), (-1, 1), (0, 1), (10, 1)))

        #expect(points.map(\.value) == ["1", "2", "1"])
        #expect(points.map(\.createdAt) == [at(-10), at(0), at(10)])
    }

    @Test("a silent stream publishes what it has when a tick passes the window's end")
    func tickCloses() throws {
        var engine = try engine()
        _ = engine.receive(loads((21, 4), (22, 6)))
        #expect(engine.nextTick == at(31))

        #expect(engine.tick(now: at(30.999)).isEmpty)
        let points = engine.tick(now: at(31))

        #expect(points.map(\.value) == ["5"])
        #expect(points.map(\.createdAt) == [at(30)])
        #expect(engine.nextTick == nil)
        #expect(engine.tick(now: at(100)).isEmpty)
    }

    @Test("a window without samples makes no point")
    func emptyWindowIsNoPoint() throws {
        var engine = try engine(.count)

        let points = engine.receive(loads((1, 1), (95, 1), (101, 1)))
        let missing = engine.receive(batch(load, [(111, [.missing, .real(1)]), (121, [.real(.nan), .missing])]))

        #expect(points.map(\.createdAt) == [at(10), at(100)])
        #expect(missing.map(\.createdAt) == [at(110)])
    }

    @Test("samples that come after their window was closed are counted, and change nothing")
    func countsLateSamples() throws {
        var engine = try engine(.sum)
        _ = engine.receive(loads((5, 1), (12, 2)))

        #expect(engine.receive(loads((9, 100), (13, 3), (1, 100))).isEmpty)
        let points = engine.receive(loads((20, 0)))

        #expect(points.map(\.value) == ["5"])
        #expect(engine.counts[0].late == 2)
    }

    @Test("samples out of order within a window all count, and last is the latest by time")
    func sortsWithinWindow() throws {
        var engine = try engine(.last)

        let points = engine.receive(loads((3, 3), (8, 8), (5, 5), (8, 9), (11, 0)))

        #expect(points.map(\.value) == ["9"])
        #expect(engine.counts[0].late == 0)
    }

    @Test("after the clock was set back an hour, publishing begins anew instead of never")
    func followsClockBack() throws {
        var engine = try engine(.last)
        _ = engine.receive(loads(arrival: 0, (7200, 1), (7211, 1)))
        var points: [DataPoint] = []

        for step in 0..<20 {
            let time = Double(step * 2)
            points += engine.receive(loads(arrival: 12 + time, (3600 + time, Double(step))))
        }

        #expect(engine.counts[0].restarts == 1)
        #expect(points.map(\.createdAt) == [at(3630)])
    }

    @Test("one sample from the far future costs at most a minute, not the feed")
    func survivesFutureSample() throws {
        var engine = try engine(.count)
        _ = engine.receive(loads(arrival: 0, (0, 1)))
        var points = engine.receive(loads(arrival: 1, (4_000_000_000, 1)))

        for step in 1..<40 { points += engine.receive(loads(arrival: Double(step * 2), (Double(step * 2), 1))) }

        #expect(points.allSatisfy { $0.createdAt < at(100) })
        #expect(points.suffix(3).map(\.value) == ["5", "5", "5"])
        #expect(engine.counts[0].restarts == 1)
    }

    @Test("times at the ends of the range are counted and do not stop anything")
    func survivesExtremeTimes() throws {
        var engine = try engine(.count)
        var samples = SampleBatch(load, arrival: BootInstant(nanoseconds: 0))
        for time in [Int64.min, .max, .min + 1, .max - 1] {
            samples.append(time: Timestamp(nanoseconds: time), [.real(1), .real(1)])
        }

        #expect(engine.receive(samples).isEmpty)
        #expect(engine.counts[0].unusable == 4)
    }

    @Test("finish publishes what is open with the time of its last sample")
    func finishPublishes() throws {
        var engine = try engine()
        _ = engine.receive(loads((21, 4), (25, 6)))

        let points = engine.finish()

        #expect(points == [DataPoint(feed: feed("load"), value: "5", createdAt: at(25))])
        #expect(engine.finish().isEmpty)
    }

    @Test("while the switch is off only rules with always publish")
    func followsSwitch() throws {
        let field = reference("host.load", "one_minute")
        let rules = [
            Rule(field, feed: feed("sometimes"), every: .seconds(10)),
            Rule(field, feed: feed("always"), every: .seconds(10), always: true),
        ]
        var engine = try RuleEngine(rules, device: "test", streams: [load])
        _ = engine.receive(loads((1, 1)))

        let cut = engine.setRecording(false)
        let off = engine.receive(loads((11, 2), (21, 3)))
        _ = engine.setRecording(true)
        let on = engine.receive(loads((25, 4), (30, 5)))

        #expect(cut == [DataPoint(feed: feed("sometimes"), value: "1", createdAt: at(1))])
        #expect(off.map(\.feed.text) == ["always", "always"])
        #expect(Set(on.map(\.feed.text)) == ["always", "sometimes"])
        #expect(on.map(\.createdAt) == [at(30), at(30)])
    }

    @Test("when rules are replaced, one that did not change keeps its window, and one that went publishes what it has")
    func replacesRules() throws {
        let field = reference("host.load", "one_minute")
        let kept = Rule(field, feed: feed("kept"), reduction: .count, every: .seconds(10))
        let gone = Rule(field, feed: feed("gone"), reduction: .count, every: .seconds(10))
        let new = Rule(field, feed: feed("new"), reduction: .count, every: .seconds(10))
        var engine = try RuleEngine([kept, gone], device: "test", streams: [load])
        _ = engine.receive(loads((1, 1), (2, 1)))

        let points = try engine.replace(with: [new, kept], streams: [load])
        let later = engine.receive(loads((3, 1), (10, 1)))
        #expect(throws: RulesError.self) { try engine.replace(with: [kept, kept]) }

        #expect(points == [DataPoint(feed: feed("gone"), value: "2", createdAt: at(2))])
        #expect(later.map { "\($0.feed) \($0.value)" } == ["new 1", "kept 3"])
        #expect(engine.rules == [new, kept])
    }
}
