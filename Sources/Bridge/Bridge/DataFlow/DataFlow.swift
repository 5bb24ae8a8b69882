internal import Alerts
internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import Outbox
internal import Recorder
internal import Samples

// How the data goes, from here on:
//
//   samplers --> DataFlow --+--> recorder      full rate, SQLite
//                  |   ^    |
//             derivations   +--> rules         window, reduce, dead band
//                                  |
//                                outbox        durable before anything is sent
//                                  |
//                                publisher     budget, links, confirmation
//                                 /     \
//                              MQTT     REST --> Adafruit IO
//
//   control feed --> switch --> starts and stops samplers, session and rules; its state goes back to the feeds

/// Where samples go: every batch to the derivations, and with what they make of it to the recorder, the rules, the alerts
/// and the counters of `status`.
///
/// Safe from any thread; nothing in here waits. Decisions are made under one lock, and acted on after it.
final class DataFlow: SampleSink {
    private struct State {
        var rules: RuleEngine
        var derived = DerivedStreams()
        var alerts: AlertMonitor?
        var executor: AlertExecutor?
        var monitors: [Name: StreamMonitor]
        /// The rules as they are written, and the longer intervals that the budget asks for.
        var written: [Rule]
        var intervals: [FeedKey: Duration] = [:]

        var slowed: [Rule] {
            written.map { rule in
                var slowed = rule
                if let interval = intervals[rule.feed] { slowed.every = max(rule.every, interval) }
                return slowed
            }
        }
    }

    private let recorder: RecorderStore
    private let outbox: OutboxStore
    private let time: any TimeSource
    private let log: Log
    private let state: Guarded<State>
    /// What dashboards tell devices; it has to know what went the other way.
    let forwards: Forwards

    init(rules: RuleEngine, recorder: RecorderStore, outbox: OutboxStore, time: any TimeSource, log: Log) {
        forwards = Forwards(log: log)
        self.recorder = recorder
        self.outbox = outbox
        self.time = time
        self.log = log
        state = Guarded(State(rules: rules, monitors: [:], written: rules.rules))
    }

    /// Declares streams before they produce anything.
    func declare(_ streams: [Stream], askedHertz: Double?) {
        state.withLock { state in
            for stream in streams where state.monitors[stream.name] == nil {
                state.monitors[stream.name] = StreamMonitor(askedHertz: askedHertz)
            }
        }
    }

    /// Samples of these streams are to come from now on: their source starts.
    func expect(_ streams: [Stream]) {
        let now = time.boot()
        state.withLock { state in
            for stream in streams { state.monitors[stream.name]?.expect(at: now) }
        }
    }

    /// Forgets streams whose source is gone.
    func withdraw(_ streams: [Stream]) {
        state.withLock { state in
            for stream in streams { state.monitors[stream.name] = nil }
        }
    }

    func receive(_ batch: SampleBatch) {
        guard !batch.isEmpty else { return }
        let effects = state.withLock { state in
            var effects = Effects()
            take([batch], into: &state, &effects)
            take(state.derived.receive(batch), into: &state, &effects, areDerived: true)
            return effects
        }
        recorder.receive(batch)
        act(on: effects)
    }

    func store(_ batches: [SampleBatch], keepOutside: Bool, durably: Bool) async throws {
        let batches = batches.filter { !$0.isEmpty }
        if durably {
            try await recorder.durably(batches, keepOutside: keepOutside)
        } else {
            for batch in batches { recorder.receive(batch, keepOutside: keepOutside) }
        }
        show(batches)
    }

    /// Counts samples that are recorded, and shows them to derivations, rules and alerts.
    private func show(_ batches: [SampleBatch]) {
        let effects = state.withLock { state in
            var effects = Effects()
            for batch in batches {
                take([batch], into: &state, &effects)
                take(state.derived.receive(batch), into: &state, &effects, areDerived: true)
            }
            return effects
        }
        act(on: effects)
    }

    func skip(_ count: Int, of stream: Name) {
        state.withLock { $0.monitors[stream, default: StreamMonitor(askedHertz: nil)].skip(count) }
    }

    var isRecording: Bool { state.withLock { $0.rules.isRecording } }

    /// What is to be done once the lock is free.
    private struct Effects {
        var points: [DataPoint] = []
        var derived: [(batch: SampleBatch, isKept: Bool)] = []
        var notices: [AlertNotice] = []
        var executor: AlertExecutor?
    }

    /// Counts the batches, and shows them to the rules and the alerts.
    private func take(
        _ batches: [SampleBatch],
        into state: inout State,
        _ effects: inout Effects,
        areDerived: Bool = false
    ) {
        let now = time.boot()
        for batch in batches {
            state.monitors[batch.stream.name, default: StreamMonitor(askedHertz: nil)].count(batch, at: now)
            effects.points += state.rules.receive(batch)
            if state.alerts != nil {
                effects.notices += state.alerts?.receive(batch, now: moment) ?? []
            }
            if areDerived { effects.derived.append((batch, state.derived.kept.contains(batch.stream.name))) }
        }
        effects.executor = state.executor
    }

    private func act(on effects: Effects) {
        for (batch, isKept) in effects.derived { recorder.receive(batch, keepOutside: isKept) }
        append(effects.points)
        effects.executor?.execute(effects.notices)
    }

    private var moment: AlertMoment { AlertMoment(wall: time.wall(), boot: time.boot()) }

    /// Waits while the recorder is behind, at most two seconds at a time: a disk that fails must not stop a source for ever.
    func waitForRoom() async throws {
        for _ in 0..<200 where !recorder.hasRoom {
            try await time.sleep(for: .milliseconds(10))
        }
    }

    func report(_ condition: SourceCondition, of stream: Name) {
        let (isNew, effects) = state.withLock { state in
            let isNew = state.monitors[stream, default: StreamMonitor(askedHertz: nil)].note(condition)
            var effects = Effects()
            effects.notices = state.alerts?.report(condition, of: stream, now: moment) ?? []
            effects.executor = state.executor
            return (isNew, effects)
        }
        act(on: effects)
        guard isNew else { return }
        let detail = condition.detail.map { ": \($0)" } ?? ""
        switch condition {
        case .ok: log.info("stream \(stream) is ok")
        default: log.warning("stream \(stream) is \(condition.word)\(detail)")
        }
    }

    func reject(_ count: Int, of stream: Name, example: String) {
        let now = time.boot()
        let isShown = state.withLock { state in
            state.monitors[stream, default: StreamMonitor(askedHertz: nil)].reject(count, at: now)
        }
        if isShown { log.warning("stream \(stream): \(count) unusable, such as \(example)") }
    }

    /// Follows the switch: rules without `always` work only while it is on.
    func setRecording(_ isOn: Bool) {
        append(state.withLock { $0.rules.setRecording(isOn) })
    }

    /// Closes windows whose time has passed, for streams that fell silent, and lets derivations see that time goes on.
    func tick() {
        let now = time.wall()
        let effects = state.withLock { state in
            var effects = Effects()
            // What is on its way has two seconds to arrive.
            take(state.derived.advance(to: now - .seconds(2)), into: &state, &effects, areDerived: true)
            effects.points += state.rules.tick(now: now)
            effects.notices += state.alerts?.pass(moment) ?? []
            effects.executor = state.executor
            return effects
        }
        act(on: effects)
    }

    /// Watches for these alerts from now on; those that had begun and are still asked for are not told again.
    func watch(_ alerts: [Alert], begun: [String]? = nil, with executor: AlertExecutor) throws(AlertError) {
        try state.withLock { state throws(AlertError) in
            state.alerts = alerts.isEmpty ? nil : try AlertMonitor(alerts, begun: begun ?? state.alerts?.begun ?? [])
            state.executor = executor
        }
    }

    /// The names of the alerts that have begun and not ended.
    var begunAlerts: [String] { state.withLock { $0.alerts?.begun ?? [] } }

    /// Puts other derivations in place; those that did not change go on. `states` are from before a restart.
    func replace(
        derivations: [any Derivation],
        written: [Configuration.Derived],
        states: [String: [UInt8]] = [:]
    ) {
        state.withLock { state in
            for stream in state.derived.streams { state.monitors[stream.name] = nil }
            state.derived.replace(derivations, written: written, states: states)
            for stream in state.derived.streams { state.monitors[stream.name] = StreamMonitor(askedHertz: nil) }
        }
    }

    /// What derivations must know after a restart.
    var derivationStates: [String: [UInt8]] { state.withLock { $0.derived.states } }

    /// Publishes what all windows hold, at the end of the program.
    func finish() {
        append(state.withLock { $0.rules.finish() })
    }

    /// Puts other rules in place; a rule that did not change keeps its open window.
    func replace(rules: [Rule], streams: [Stream], othersMayCome: Bool = false) throws(RulesError) {
        let points = try state.withLock { state throws(RulesError) in
            let before = state.written
            state.written = rules
            do throws(RulesError) {
                return try state.rules.replace(with: state.slowed, streams: streams, othersMayCome: othersMayCome)
            } catch {
                state.written = before
                throw error
            }
        }
        append(points)
    }

    /// Makes points only so often, since the budget has no room for more; empty: as the rules are written.
    func stretch(_ intervals: [FeedKey: Duration]) {
        do {
            let points = try state.withLock { state throws(RulesError) in
                state.intervals = intervals
                return try state.rules.replace(with: state.slowed)
            }
            append(points)
        } catch {
            log.error("the rules cannot be slowed down: \(error)")
        }
    }

    private func append(_ points: [DataPoint]) {
        guard !points.isEmpty else { return }
        forwards.noteOwn(points, at: time.boot())
        outbox.append(points)
    }

    /// How every stream is doing.
    func monitors() -> [Name: StreamMonitor] { state.withLock { $0.monitors } }

    /// The samples that a full buffer or a full disk has dropped.
    var drops: [Name: Int] { recorder.drops }
}
