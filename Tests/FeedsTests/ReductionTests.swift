import DataPoints
import Diagnostics
import Foundation
import Samples
import Testing

@testable import Feeds

/// The engine against a reference that keeps everything and computes it the plain way.
@Suite("Reductions") struct ReductionTests {
    private struct Row {
        var time: Int64
        var number: Double
    }

    /// Samples that come mostly in order, some of them late, some a window or more apart.
    private func rows(_ dice: inout Dice, count: Int) -> [Row] {
        var time = Int64.random(in: 0..<1_000 * second, using: &dice)
        let offset = [0.0, 1e6, -1e9][Int.random(in: 0..<3, using: &dice)]
        return (0..<count).map { _ in
            time += Int64.random(in: 1..<second / 2, using: &dice)
            if Int.random(in: 0..<200, using: &dice) == 0 { time += 25 * second }
            let back = Int.random(in: 0..<20, using: &dice) == 0 ? Int64.random(in: 0..<15 * second, using: &dice) : 0
            return Row(time: time - back, number: offset + Double.random(in: -5...5, using: &dice))
        }
    }

    private func naive(_ reduction: Reduction, _ rows: [Row], previous: Double?) -> Double {
        let numbers = rows.map(\.number)
        let count = Double(numbers.count)
        let mean = numbers.map { $0 / count }.reduce(0, +)
        let sorted = numbers.sorted()
        let byTime = rows.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element.number)
        return switch reduction {
        case .last: byTime[byTime.count - 1]
        case .mean: mean
        case .min: sorted[0]
        case .max: sorted[sorted.count - 1]
        case .median: (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        case .rms: numbers.map { $0 * $0 / count }.reduce(0, +).squareRoot()
        case .stddev: numbers.map { ($0 - mean) * ($0 - mean) / count }.reduce(0, +).squareRoot()
        case .sum: numbers.reduce(0, +)
        case .count: count
        case .delta: byTime[byTime.count - 1] - (previous ?? byTime[0])
        }
    }

    @Test("every reduction agrees with its plain definition on generated samples", arguments: Reduction.allCases)
    func agreesWithReference(_ reduction: Reduction) throws {
        for seed in 0..<40 as Range<UInt64> {
            var dice = Dice(seed: seed)
            let rows = rows(&dice, count: 400)
            let rule = Rule(
                reference("host.load", "one_minute"),
                feed: feed("f"),
                reduction: reduction,
                every: .seconds(10)
            )
            var engine = try RuleEngine([rule], device: "test")
            var points: [DataPoint] = []
            var rest = rows[...]
            while !rest.isEmpty {
                let some = rest.prefix(Int.random(in: 1..<30, using: &dice))
                rest = rest.dropFirst(some.count)
                var samples = SampleBatch(load, arrival: BootInstant(nanoseconds: 0))
                for row in some {
                    samples.append(time: Timestamp(nanoseconds: row.time), [.real(row.number), .missing])
                }
                points += engine.receive(samples)
            }
            points += engine.finish()

            var windows: [(index: Int64, rows: [Row])] = []
            var late = 0
            for row in rows {
                let index = row.time / (10 * second)
                if let last = windows.last, index < last.index {
                    late += 1
                } else if let last = windows.last, index == last.index {
                    windows[windows.count - 1].rows.append(row)
                } else {
                    windows.append((index, [row]))
                }
            }
            var previous: Double?
            let expected = windows.map { window in
                let value = naive(reduction, window.rows, previous: previous)
                previous = naive(.last, window.rows, previous: nil)
                return value
            }

            #expect(engine.counts[0].late == late)
            #expect(points.count == expected.count)
            for (point, value) in zip(points, expected) {
                let number = try #require(Double(point.value))
                #expect(abs(number - value) <= 1e-6 * max(1, abs(value) * 1e-6), "\(reduction), seed \(seed)")
            }
            #expect(
                points.dropLast().map(\.createdAt.nanoseconds)
                    == windows.dropLast().map { ($0.index + 1) * 10 * second }
            )
            #expect(zip(points, points.dropFirst()).allSatisfy { $0.createdAt < $1.createdAt })
        }
    }

    private func reduce(_ numbers: [Double], _ reduction: Reduction) throws -> String? {
        let rule = Rule(
            reference("host.load", "one_minute"),
            feed: feed("f"),
            reduction: reduction,
            every: .seconds(100)
        )
        var engine = try RuleEngine([rule], device: "test")
        let rows = numbers.enumerated().map { (Double($0.offset) / 100_000, [Value.real($0.element), .missing]) }
        _ = engine.receive(batch(load, rows))
        return engine.finish().first?.value
    }

    @Test("a small spread on a large offset is not lost")
    func stableVariance() throws {
        let numbers = (0..<1_000).map { 1e9 + Double($0 % 2) }

        let text = try #require(try reduce(numbers, .stddev))

        #expect(abs((Double(text) ?? 0) - 0.5) < 1e-9)
    }

    @Test("a sum keeps the small terms beside a large one")
    func compensatedSum() throws {
        #expect(try reduce([1e16, 1, 1, 1, 1, -1e16], .sum) == "4")
        #expect(try reduce([1e16, 1, 1, 1, 1, -1e16, 2, 0], .mean) == "0.75")
    }

    @Test("a single sample has no spread", arguments: [Reduction.stddev, .delta])
    func singleSample(_ reduction: Reduction) throws {
        #expect(try reduce([7], reduction) == "0")
    }

    @Test("what overflows makes no point, never NaN", arguments: [Reduction.sum, .rms, .stddev, .mean])
    func neverNaN(_ reduction: Reduction) throws {
        let text = try reduce([1e308, 1e308, 1e308, -1e308], reduction)

        #expect(text == nil || Double(text ?? "")?.isFinite == true)
    }

    @Test("delta of a counter is exact beyond what a Double holds, and adds up over windows and gaps")
    func deltaOfCounter() throws {
        let rule = Rule(reference("words", "number"), feed: feed("f"), reduction: .delta, every: .seconds(1))
        var engine = try RuleEngine([rule], device: "test")
        let start: Int64 = 9_007_199_254_740_993
        let rows = [(0.1, 0), (0.9, 1), (1.5, 4), (7.5, 9), (8.5, 9)]
            .map { ($0.0, [Value.missing, .missing, .integer(start + Int64($0.1))]) }

        let points = engine.receive(batch(words, rows))

        #expect(points.map(\.value) == ["1", "3", "5"])
    }

    @Test("words and flags go with last; a flag is 1 or 0")
    func wordsAndFlags() throws {
        let rules = [
            Rule(reference("words", "text"), feed: feed("text"), every: .seconds(1)),
            Rule(reference("words", "flag"), feed: feed("flag"), every: .seconds(1)),
            Rule(reference("words", "flag"), feed: feed("share"), reduction: .mean, every: .seconds(1)),
            Rule(reference("words", "text"), feed: feed("number"), reduction: .count, every: .seconds(1)),
        ]
        var engine = try RuleEngine(rules, device: "test", streams: [words])
        _ = engine.receive(
            batch(
                words,
                [(0.1, [.text("walking"), .flag(false), .missing]), (0.2, [.text("run"), .flag(true), .missing])]
            )
        )

        #expect(engine.finish().map(\.value) == ["run", "1", "0.5", "2"])
    }

    @Test("a text that no feed takes is counted and not published")
    func longText() throws {
        let rule = Rule(reference("words", "text"), feed: feed("text"), every: .seconds(1))
        var engine = try RuleEngine([rule], device: "test")
        let text = String(repeating: "x", count: 1025)

        _ = engine.receive(batch(words, [(0.1, [.text(text), .missing, .missing])]))

        #expect(engine.finish().isEmpty)
        #expect(engine.counts[0].unusable == 1)
    }
}
