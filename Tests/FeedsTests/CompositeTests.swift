import DataPoints
import Diagnostics
import Foundation
import Samples
import Testing

@testable import Feeds

@Suite("Composites") struct CompositeTests {
    private let acceleration = Stream(name("accelerometer"), fields: ["x", "y", "z"].map { Field(name($0)) })

    private func rule(_ fields: [FieldReference], reduction: Reduction = .last) -> Rule {
        var rule = Rule(composite: fields, feed: feed("motion"), every: .seconds(10))
        rule.reduction = reduction
        return rule
    }

    private var motion: [FieldReference] {
        [reference("accelerometer", "x"), reference("host.load", "one_minute"), reference("accelerometer", "y")]
    }

    @Test("the object is nested by stream and carries name and time")
    func shape() throws {
        var engine = try RuleEngine([rule(motion)], device: "green \"house\"", streams: [acceleration, load])

        _ = engine.receive(batch(acceleration, [(1_790_000_001, [.real(0.5), .real(-9.81), .real(0)])]))
        _ = engine.receive(loads((1_790_000_002, 0.25)))
        let points = engine.tick(now: at(1_790_000_011))

        #expect(
            points.map(\.value) == [
                #"{"device_id":"green \"house\"","timestamp":1790000010,"accelerometer":{"x":0.5,"y":-9.81},"#
                    + #""host.load":{"one_minute":0.25}}"#
            ]
        )
        #expect(points.map(\.createdAt) == [at(1_790_000_010)])
    }

    @Test("words, flags, counts and a time within a second are JSON that a foreign parser reads back")
    func foreignParser() throws {
        let fields = ["text", "flag", "number"].map { reference("words", $0) }
        var engine = try RuleEngine([rule(fields)], device: "a\u{1}\nb", streams: [words])
        let text = "say \"hi\" \\ \u{7} é"
        _ = engine.receive(batch(words, [(12.25, [.text(text), .flag(true), .integer(.min)])]))

        let point = try #require(engine.finish().first)
        let object = try #require(JSONSerialization.jsonObject(with: Data(point.value.utf8)) as? [String: Any])

        #expect(object["device_id"] as? String == "a\u{1}\nb")
        #expect(object["timestamp"] as? Double == 12.25)
        let inner = try #require(object["words"] as? [String: Any])
        #expect(inner["text"] as? String == text)
        #expect(inner["flag"] as? Bool == true)
        #expect((inner["number"] as? NSNumber)?.int64Value == .min)
    }

    @Test("a field without a sample is left out, and an object without any is no point")
    func leavesOutMissing() throws {
        var engine = try RuleEngine([rule(motion)], device: "d", streams: [acceleration, load])
        _ = engine.receive(loads((1, 2)))

        #expect(
            engine.tick(now: at(11)).map(\.value) == [#"{"device_id":"d","timestamp":10,"host.load":{"one_minute":2}}"#]
        )
        #expect(engine.tick(now: at(100)).isEmpty)
    }

    @Test("a stream that is behind the other loses nothing", arguments: [0.0, 0.5, 5, 12, 20])
    func waitsForSlowStream(_ behind: Double) throws {
        let fields = [reference("accelerometer", "x"), reference("host.load", "one_minute")]
        var engine = try RuleEngine([rule(fields, reduction: .count)], device: "d", streams: [acceleration, load])
        // Two streams in order, the second up to two windows behind; both go on to the end.
        var events: [(order: Double, time: Double, isLoad: Bool)] = []
        for step in 0..<300 {
            let time = Double(step) * 0.7
            events.append((time, time, false))
            if step % 3 == 0 { events.append((time + behind * Double(step) / 300, time, true)) }
        }
        events.sort { $0.order < $1.order }
        var points: [DataPoint] = []
        for event in events {
            if event.isLoad {
                points += engine.receive(loads((event.time, 1)))
            } else {
                points += engine.receive(
                    batch(
                        acceleration,
                        [(event.time, [.real(1), .real(0), .real(0)])]
                    )
                )
            }
        }
        points += engine.finish()

        #expect(engine.counts[0].late == 0)
        #expect(points.count == 21)
        for (index, point) in points.enumerated() {
            let inside = events.filter { Int($0.time / 10) == index }
            let x = inside.count { !$0.isLoad }
            let l = inside.count { $0.isLoad }
            #expect(point.value.hasSuffix(#""accelerometer":{"x":\#(x)},"host.load":{"one_minute":\#(l)}}"#))
        }
    }

    @Test("an object that could be too long is refused at start-up, with the key")
    func refusesTooLong() throws {
        let wide = Stream(name("wide"), fields: (0..<40).map { Field(name("some_long_name_of_a_field_\($0)")) })
        let fields = wide.fields.map { FieldReference(stream: wide.name, field: $0.name) }

        #expect(Rule.problems(of: [rule(Array(fields.prefix(10)))], device: "d", streams: [wide]).isEmpty)
        let error = #expect(throws: RulesError.self) {
            try RuleEngine([rule(fields)], device: "d", streams: [wide])
        }

        #expect(error?.problems.map(\.key) == [.fields])
        #expect(error?.description.contains("1024") == true)
    }

    @Test("no object is longer than its estimate, whatever the values", arguments: 0..<30 as Range<UInt64>)
    func estimateHolds(_ seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let kinds = (0..<12).map { _ in [FieldKind.real, .integer, .text, .flag].randomElement(using: &dice) ?? .real }
        let stream = Stream(
            name("s.t"),
            fields: kinds.enumerated().map { Field(name("f\($0.offset)"), kind: $0.element) }
        )
        var rule = rule(stream.fields.map { FieldReference(stream: stream.name, field: $0.name) })
        rule.precision = [nil, 0, 3, 15].randomElement(using: &dice) ?? nil
        let worst = CompositeText.worstCase(of: rule, device: "dévice", streams: [stream.name: stream])
        for _ in 0..<200 {
            let values = kinds.map { kind -> Value in
                switch kind {
                case .real: Value(Double(bitPattern: dice.next()))
                case .integer: .integer(Int64(bitPattern: dice.next()))
                case .flag: .flag(Bool.random(using: &dice))
                case .text:
                    .text(
                        String(
                            (0..<Int.random(in: 0..<200, using: &dice))
                                .map { _ in ["\u{1}", "é", "😀", "\"", "a"].randomElement(using: &dice) ?? "a" }
                                .joined()
                        )
                    )
                }
            }
            let time = Timestamp(nanoseconds: Int64(bitPattern: dice.next()))
            guard let text = CompositeText.object(of: rule, device: "dévice", time: time, values: values) else {
                continue
            }
            #expect(#"{"value":\#(text)}"#.utf8.count <= worst)
            #expect((try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil)
        }
    }

    @Test("the dead band of an object lets it go when any field leaves its own band")
    func deadBand() throws {
        var banded = rule([reference("host.load", "one_minute"), reference("host.load", "five_minutes")])
        banded.deadBand = 1
        var engine = try RuleEngine([banded], device: "d", streams: [load])
        let rows: [(Double, [Value])] = [
            (0, [.real(0), .real(0)]), (10, [.real(0.5), .real(1)]), (20, [.real(0), .real(2)]),
            (30, [.real(1), .real(2)]),
        ]

        let points = engine.receive(batch(load, rows)) + engine.finish()

        #expect(points.map(\.createdAt) == [at(10), at(30)])
    }
}
