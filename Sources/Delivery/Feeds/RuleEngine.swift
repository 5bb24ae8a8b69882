public import DataPoints
public import Diagnostics
public import Samples

/// All rules at work: samples in, data points out. A value without lock, clock or input and output.
///
/// Windows lie on sample time, at multiples of `every`. One closes when a later sample of its stream passes its end (of
/// each stream, for a composite), or when `tick` shows a time `patience` beyond it. A point's `createdAt` is the end of its
/// window: so the points of a feed are in the order of their windows, however late each was closed, and a point is fresh
/// when it leaves. A window that is cut short (`finish`, the switch) carries the time of its last sample instead, which is
/// earlier than the end, so the order holds. A window without samples makes no point.
public struct RuleEngine: Sendable {
    /// How long a window waits for samples that are on their way before `tick` closes it.
    public let patience: Duration

    /// Whether the switch is on; while it is off only rules with `always` work.
    public private(set) var isRecording: Bool

    private struct Route {
        let rule: Int
        let source: Int
    }

    private var states: [RuleState]
    private var routes: [Name: [Route]] = [:]
    private var surroundings: Surroundings
    private var locations: Set<Name> = []

    /// Makes the engine for `rules` of the bridge called `device`; see `Rule.problems` for `streams`.
    public init(
        _ rules: [Rule],
        device: String,
        streams: [Stream]? = nil,
        othersMayCome: Bool = false,
        isRecording: Bool = true,
        patience: Duration = .seconds(1)
    ) throws(RulesError) {
        let problems = Rule.problems(of: rules, device: device, streams: streams, othersMayCome: othersMayCome)
        guard problems.isEmpty else { throw RulesError(problems: problems) }
        states = rules.map { RuleState($0) }
        surroundings = Surroundings(device: device)
        self.isRecording = isRecording
        self.patience = patience
        route()
    }

    /// Puts other rules in place and gives the points of those that went; a rule that did not change goes on as it was.
    ///
    /// When the new rules have a problem nothing changes.
    public mutating func replace(
        with rules: [Rule],
        streams: [Stream]? = nil,
        othersMayCome: Bool = false
    ) throws(RulesError) -> [DataPoint] {
        let device = surroundings.device
        let problems = Rule.problems(of: rules, device: device, streams: streams, othersMayCome: othersMayCome)
        guard problems.isEmpty else { throw RulesError(problems: problems) }
        var points: [DataPoint] = []
        for index in states.indices where !rules.contains(states[index].rule) {
            states[index].closeAll(surroundings, into: &points)
        }
        states = rules.map { rule in states.first { $0.rule == rule } ?? RuleState(rule) }
        route()
        return points
    }

    private mutating func route() {
        routes = [:]
        locations = Set(rules.compactMap(\.location))
        for (rule, state) in states.enumerated() {
            for (source, stream) in state.streams.enumerated() {
                routes[stream, default: []].append(Route(rule: rule, source: source))
            }
        }
    }

    /// The rules, in the order in which they were given.
    public var rules: [Rule] { states.map(\.rule) }

    /// What each rule has done, in the order of `rules`.
    public var counts: [RuleCounts] { states.map(\.counts) }

    /// The streams that any rule reads.
    public var streams: Set<Name> { Set(routes.keys).union(locations) }

    /// When `tick` has something to do if no sample comes before.
    public var nextTick: Timestamp? {
        states.compactMap(\.nextEnd).min().map { $0 + patience }
    }

    /// Takes samples and gives the points of the windows that they close.
    public mutating func receive(_ batch: SampleBatch) -> [DataPoint] {
        var points: [DataPoint] = []
        guard !batch.isEmpty else { return points }
        let name = batch.stream.name
        if locations.contains(name),
            let position = Position(newestOf: batch, after: surroundings.positions[name])
        {
            surroundings.positions[name] = position
        }
        for route in routes[name] ?? [] where isRecording || states[route.rule].rule.always {
            states[route.rule].receive(batch, source: route.source, surroundings: surroundings, into: &points)
        }
        return points
    }

    /// Closes the windows that ended `patience` before `now`, so that a stream that fell silent still publishes.
    public mutating func tick(now: Timestamp) -> [DataPoint] {
        var points: [DataPoint] = []
        let limit = (now - patience).nanoseconds
        for index in states.indices { states[index].closeWindows(endingBy: limit, surroundings, into: &points) }
        return points
    }

    /// Follows the switch. Off publishes what the rules without `always` hold and stops them; on lets them begin afresh.
    public mutating func setRecording(_ isOn: Bool) -> [DataPoint] {
        guard isOn != isRecording else { return [] }
        isRecording = isOn
        var points: [DataPoint] = []
        for index in states.indices where !states[index].rule.always {
            if isOn {
                states[index].forgetPublished()
            } else {
                states[index].closeAll(surroundings, into: &points)
            }
        }
        return points
    }

    /// Publishes what all windows hold, at the end of the program.
    public mutating func finish() -> [DataPoint] {
        var points: [DataPoint] = []
        for index in states.indices { states[index].closeAll(surroundings, into: &points) }
        return points
    }
}
