public import Alerts
internal import DataPoints
public import Samples

extension Configuration {
    /// All `[[alert]]` tables.
    public struct Alerting: Sendable, Equatable {
        /// What is waited for, and what is to be done.
        public var alerts: [Alert] = []
        /// The streams whose sources run while the switch is off, too: those of alerts with `always`.
        public var needed: Set<Name> = []

        /// The feeds that alerts publish to.
        var feeds: [FeedKey] {
            alerts.flatMap(\.actions).compactMap { if case .publish(let feed, _) = $0 { feed } else { nil } }
        }
    }

    /// Reads all `[[alert]]` tables.
    static func alerting(reading root: TableReader) -> Alerting {
        let tables = root.subtables("alert")
        var alerts: [Alert] = []
        var needed: Set<Name> = []
        for (number, table) in tables.enumerated() {
            defer { table.finish() }
            let always = table.flag("always", default: false)
            guard let alert = alert(reading: table, number: number + 1) else { continue }
            if always { needed.insert(alert.condition.stream) }
            if alerts.contains(where: { $0.name == alert.name }) {
                table.problem(at: "name", "there are two alerts called \"\(alert.name)\"; give one another name")
            }
            alerts.append(alert)
        }
        return Alerting(alerts: alerts, needed: needed)
    }

    private static func alert(reading table: TableReader, number: Int) -> Alert? {
        let name = table.string("name") ?? "alert-\(number)"
        let condition = condition(table)
        let actions = actions(table)
        let lasting = table.duration("lasting") ?? .zero
        let atMostEvery = table.duration("at_most_every") ?? .seconds(60)
        let tellsEnd = table.flag("tell_end", default: true)
        guard let condition, let actions else { return nil }
        do throws(AlertError) {
            return try Alert(
                name: name,
                condition: condition,
                actions: actions,
                lasting: lasting,
                atMostEvery: atMostEvery,
                tellsEnd: tellsEnd
            )
        } catch {
            table.problem(at: "name", error.description)
            return nil
        }
    }

    private static func condition(_ table: TableReader) -> AlertCondition? {
        let stream = table.name("stream")
        let name = table.name("field")
        let above = table.number("above")
        let below = table.number("below")
        let word = table.string("equals")
        let missing = table.duration("missing_for")
        let hysteresis = table.number("hysteresis") ?? 0
        let only = table.strings("only")
        guard let stream else {
            if !table.has("stream") { table.problem(at: "stream", "stream is missing: what the alert looks at") }
            return nil
        }
        if let missing { return .missing(stream, after: missing) }
        guard let name else {
            if !table.has("field") {
                table.problem(at: "field", "field is missing: an alert looks at stream and field, or has missing_for")
            }
            return nil
        }
        var selection: AlertField.Selection?
        if let only {
            guard only.count == 2, let field = Name(only[0]) else {
                table.problem(at: "only", "only must be a field and a word, such as [\"region\", \"home\"]")
                return nil
            }
            selection = AlertField.Selection(field, only[1])
        }
        let field = AlertField(stream, name, only: selection)
        if let word { return .equal(field, word: word) }
        switch (above, below) {
        case (let above?, nil): return .above(field, limit: above, hysteresis: hysteresis)
        case (nil, let below?): return .below(field, limit: below, hysteresis: hysteresis)
        case (let above?, let below?) where below < above:
            return .outside(field, range: below...above, hysteresis: hysteresis)
        case (.some, .some):
            table.problem(at: "below", "below must be less than above: the alert begins outside of both")
            return nil
        case (nil, nil):
            table.problem(at: "above", "an alert needs above, below, equals or missing_for")
            return nil
        }
    }

    private static func actions(_ table: TableReader) -> [AlertAction]? {
        var actions: [AlertAction] = []
        if table.has("feed") || table.has("text") {
            let text = table.string("text") ?? "{name} {state}: {value}"
            guard let feed = table.feed("feed") else { return nil }
            actions.append(.publish(feed, text: text))
        }
        if table.flag("log", default: false) { actions.append(.log) }
        if let parts = table.strings("run") {
            guard let path = parts.first else {
                table.problem(at: "run", "run must be a program and its arguments: [\"/usr/local/bin/ring\", \"loud\"]")
                return nil
            }
            do throws(AlertError) {
                let limit = table.duration("run_limit") ?? .seconds(10)
                let arguments = Array(parts.dropFirst())
                actions.append(.run(try AlertCommand(path: path, arguments: arguments, timeLimit: limit)))
            } catch {
                table.problem(at: "run", error.description)
                return nil
            }
        }
        if let word = table.string("session") {
            guard let action = AlertAction.SessionAction(rawValue: word) else {
                table.problem(at: "session", "session must be \"record\", \"start\" or \"stop\", not \"\(word)\"")
                return nil
            }
            actions.append(.session(action))
        }
        if actions.isEmpty {
            table.problem(at: "feed", "the alert does nothing: give it a feed, log = true, run or session")
            return nil
        }
        return actions
    }
}
