public import Diagnostics
public import Samples

/// Now, on both clocks.
public struct AlertMoment: Sendable {
    /// The wall clock: what is older by a minute is no news.
    public let wall: Timestamp
    /// The boot-time clock, for all waiting.
    public let boot: BootInstant

    /// Makes a moment.
    public init(wall: Timestamp, boot: BootInstant) {
        self.wall = wall
        self.boot = boot
    }

    /// Reads the clocks.
    public init(_ time: some TimeSource) {
        self.init(wall: time.wall(), boot: time.boot())
    }
}

/// Watches all alerts. Pure: samples, conditions of sources and time go in, things to be done come out.
public struct AlertMonitor: Sendable {
    private var states: [AlertState]
    private let byStream: [Name: [Int]]

    /// Makes a monitor; `begun` are the names of those that had begun before a restart and are not told again.
    public init(_ alerts: [Alert], begun: [String] = []) throws(AlertError) {
        var names: Set<String> = []
        for alert in alerts where !names.insert(alert.name).inserted {
            throw AlertError("There are two alerts called \(alert.name). Give one another name.")
        }
        states = alerts.map { AlertState($0, hasBegun: begun.contains($0.name)) }
        byStream = Dictionary(grouping: alerts.indices) { alerts[$0].condition.stream }
    }

    /// The streams that are looked at.
    public var streams: Set<Name> { Set(byStream.keys) }

    /// The names of those that have begun and not ended: what has to be known after a restart.
    public var begun: [String] { states.filter(\.hasBegun).map(\.alert.name) }

    /// How many beginnings came too soon after the last one of their alert.
    public var held: Int { states.reduce(0) { $0 + $1.held } }

    /// When `pass` has to be called at the latest; nil while nothing waits for time alone.
    public var deadline: BootInstant? { states.compactMap(\.deadline).min() }

    /// Takes samples.
    public mutating func receive(_ batch: SampleBatch, now: AlertMoment) -> [AlertNotice] {
        guard let numbers = byStream[batch.stream.name] else { return [] }
        var notices: [AlertNotice] = []
        for number in numbers {
            guard let reader = SampleReader(states[number].alert.condition, batch.stream) else { continue }
            for row in 0..<batch.count {
                guard let value = reader.read(batch, row) else { continue }
                if let change = states[number].take(value, time: batch.times[row], now: now) {
                    tell(number, change, &notices)
                }
            }
        }
        return notices
    }

    /// Takes note of how the source of `stream` is doing.
    public mutating func report(_ condition: SourceCondition, of stream: Name, now: AlertMoment) -> [AlertNotice] {
        var notices: [AlertNotice] = []
        for number in byStream[stream] ?? [] {
            if let change = states[number].report(condition, now: now) { tell(number, change, &notices) }
        }
        return notices
    }

    /// Takes note that time has passed. Called once at the start, it begins the waiting for sources that never come.
    public mutating func pass(_ now: AlertMoment) -> [AlertNotice] {
        var notices: [AlertNotice] = []
        for number in states.indices {
            if let change = states[number].pass(now) { tell(number, change, &notices) }
        }
        return notices
    }

    private func tell(_ number: Int, _ change: AlertState.Change, _ notices: inout [AlertNotice]) {
        let alert = states[number].alert
        for action in alert.actions {
            // What was started for as long as it lasts is stopped at its end, told or not.
            let isPaired = action == .session(.record)
            guard change.isBegin || alert.tellsEnd || isPaired else { continue }
            // A session is started or stopped once, by the begin.
            if case .session(let session) = action, session != .record, !change.isBegin { continue }
            notices.append(
                AlertNotice(
                    alert: alert.name,
                    isBegin: change.isBegin,
                    action: action,
                    stream: alert.condition.stream,
                    field: alert.condition.field?.name,
                    value: change.value,
                    time: change.time
                )
            )
        }
    }
}

/// Finds a condition's value in the samples of a stream.
private struct SampleReader {
    private let field: Int
    private let selection: (field: Int, word: String)?

    /// Nil when the stream does not have the fields.
    init?(_ condition: AlertCondition, _ stream: Samples.Stream) {
        guard let wanted = condition.field else {
            field = 0
            selection = nil
            return
        }
        guard let field = stream.index(of: wanted.name) else { return nil }
        self.field = field
        guard let only = wanted.only else {
            selection = nil
            return
        }
        guard let place = stream.index(of: only.field) else { return nil }
        selection = (place, only.word)
    }

    /// Nil when the sample is none of those that are looked at.
    func read(_ batch: SampleBatch, _ row: Int) -> Value? {
        if let selection, AlertJudge.text(batch.value(row: row, field: selection.field)) != selection.word {
            return nil
        }
        return batch.value(row: row, field: field)
    }
}
