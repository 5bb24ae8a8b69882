internal import DataPoints
internal import Diagnostics
public import Samples

extension Rule {
    /// The shortest window: anything quicker is no reduction for a dashboard.
    public static let shortestWindow: Duration = .milliseconds(10)

    /// The longest window.
    public static let longestWindow: Duration = .seconds(366 * 86_400)

    /// Everything that is wrong with `rules`.
    ///
    /// With `streams`, streams and fields must be among them; with `othersMayCome`, a stream that is not there yet (a
    /// phone that has not called) is no problem. `device` is the name that composites carry.
    public static func problems(
        of rules: [Rule],
        device: String,
        streams: [Stream]? = nil,
        othersMayCome: Bool = false
    ) -> [RuleProblem] {
        var problems: [RuleProblem] = []
        var feeds: [String: Int] = [:]
        let known = streams.map { Dictionary($0.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
        for (index, rule) in rules.enumerated() {
            func add(_ key: RuleKey, _ text: String) {
                problems.append(RuleProblem(rule: index, key: key, text: text))
            }
            if let other = feeds[rule.feed.text] {
                add(
                    .feed,
                    "rule \(index + 1) publishes to feed \"\(rule.feed)\", and so does rule \(other + 1). "
                        + "Give each rule a feed of its own, or put both fields into one with `fields`."
                )
            } else {
                feeds[rule.feed.text] = index
            }
            rule.addOwnProblems(add)
            rule.addFieldProblems(known: known, othersMayCome: othersMayCome, add)
            guard rule.isComposite else { continue }
            let bytes = CompositeText.worstCase(of: rule, device: device, streams: known ?? [:])
            if bytes > PointLimits.valueBytes {
                add(
                    .fields,
                    "the object for feed \"\(rule.feed)\" can be \(bytes) bytes long, and Adafruit IO drops values of more "
                        + "than \(PointLimits.valueBytes) without a word. Name fewer fields, set `precision`, or use two rules."
                )
            }
        }
        return problems
    }

    private func addOwnProblems(_ add: (RuleKey, String) -> Void) {
        if fields.isEmpty {
            add(.fields, "`fields` of the rule for feed \"\(feed)\" is empty. Name at least one field.")
        }
        for (place, field) in fields.enumerated() where fields[..<place].contains(field) {
            add(.fields, "`fields` of the rule for feed \"\(feed)\" names \(field) twice. Leave one out.")
        }
        if every < Rule.shortestWindow || every > Rule.longestWindow {
            add(.every, "`every` of the rule for feed \"\(feed)\" must be between 10 ms and 366 d.")
        }
        if let deadBand, !(deadBand >= 0) || deadBand.isInfinite {
            add(.deadBand, "`dead_band` of the rule for feed \"\(feed)\" must be a number that is not negative.")
        }
        if let precision, !(0...15).contains(precision) {
            add(.precision, "`precision` of the rule for feed \"\(feed)\" must be between 0 and 15 digits.")
        }
        if !(weight > 0) || weight.isInfinite {
            add(.weight, "`weight` of the rule for feed \"\(feed)\" must be a number above 0.")
        }
    }

    private func addFieldProblems(
        known: [Name: Stream]?,
        othersMayCome: Bool,
        _ add: (RuleKey, String) -> Void
    ) {
        guard let known else { return }
        for reference in fields {
            guard let stream = known[reference.stream] else {
                if !othersMayCome {
                    add(isComposite ? .fields : .stream, noStream(reference.stream, known))
                }
                continue
            }
            guard let place = stream.index(of: reference.field) else {
                let names = stream.fields.map(\.name.text).joined(separator: ", ")
                add(
                    isComposite ? .fields : .field,
                    "stream \"\(stream.name)\" has no field \"\(reference.field)\". It has: \(names)."
                )
                continue
            }
            guard stream.fields[place].kind == .text else { continue }
            if reduction.needsNumbers {
                add(
                    .reduce,
                    "`reduce = \"\(reduction.rawValue)\"` needs numbers, and \(reference) is a text. "
                        + "Use \"last\" or \"count\"."
                )
            } else if deadBand != nil, reduction == .last {
                add(.deadBand, "`dead_band` needs numbers, and \(reference) is a text. Use `on_change = true`.")
            }
        }
        guard let location else { return }
        if let stream = known[location] {
            if PositionColumns(stream) == nil {
                add(.location, "stream \"\(location)\" has no fields lat and lon, so it cannot be a `location`.")
            }
        } else if !othersMayCome {
            add(.location, noStream(location, known))
        }
    }

    private func noStream(_ name: Name, _ known: [Name: Stream]) -> String {
        guard !known.isEmpty else { return "there is no stream \"\(name)\": no sampler gives any." }
        let names = known.keys.sorted().prefix(12).map(\.text).joined(separator: ", ")
        let more = known.count > 12 ? " and \(known.count - 12) more (see `feedbridge sensors`)" : ""
        return "there is no stream \"\(name)\". The samplers give: \(names)\(more)."
    }
}
