internal import DataPoints
internal import Diagnostics
internal import Samples

/// One rule at work: its open windows, what it last published, what it has counted.
///
/// A window closes when each of the rule's streams has shown a sample beyond it, or by `tick`. A rule of one stream has one
/// open window; one of several streams has as many as they are apart, at most `mostWindows`.
struct RuleState: Sendable {
    /// More open windows than this, and the oldest is closed although a stream is still behind.
    static let mostWindows = 4

    /// One of the rule's streams.
    private struct Source {
        let stream: Name
        /// The rule's fields of this stream, by their place in the rule.
        let places: [Int]
        /// The stream as it last was, and the column of each place; a column is nil when the stream has no such field.
        var layout: Stream?
        var columns: [Int?] = []
        /// The latest sample time seen.
        var newest = Int64.min
    }

    let rule: Rule
    private(set) var counts = RuleCounts()
    private let period: Int64
    private let goesBackAfter: Duration
    private var sources: [Source]
    private var windows: [Window] = []
    /// The end of the last closed window: what is earlier is late.
    private var closedThrough = Int64.min
    /// The last value of each field in closed windows, for `delta`.
    private var previous: [Value]
    /// What was last published: the value of each field, and its text.
    private var published: [(value: Value, text: String?)]?
    /// When the first of an unbroken series of late samples arrived.
    private var lateSince: BootInstant?

    init(_ rule: Rule) {
        self.rule = rule
        period = max(rule.every.nanoseconds, 1)
        goesBackAfter = min(max(rule.every * 2, .seconds(10)), .seconds(60))
        previous = Array(repeating: .missing, count: rule.fields.count)
        var names: [Name] = []
        for field in rule.fields where !names.contains(field.stream) { names.append(field.stream) }
        sources = names.map { name in
            Source(stream: name, places: rule.fields.indices.filter { rule.fields[$0].stream == name })
        }
    }

    /// The streams it reads, in the order of `source` in `receive`.
    var streams: [Name] { sources.map(\.stream) }

    /// The end of its oldest open window.
    var nextEnd: Timestamp? { windows.first.map { Timestamp(nanoseconds: $0.end) } }

    /// Takes samples of its stream number `source`.
    mutating func receive(_ batch: SampleBatch, source: Int, surroundings: Surroundings, into points: inout [DataPoint])
    {
        adopt(batch.stream, source: source)
        let width = batch.stream.fields.count
        batch.values.withUnsafeBufferPointer { values in
            batch.times.withUnsafeBufferPointer { times in
                var row = 0
                while row < times.count {
                    let time = times[row].nanoseconds
                    guard let index = window(for: time, arrival: batch.arrival, source: source, surroundings, &points)
                    else {
                        row += 1
                        continue
                    }
                    let (start, end) = (windows[index].start, windows[index].end)
                    var newest = time
                    var stop = row + 1
                    while stop < times.count, times[stop].nanoseconds >= start, times[stop].nanoseconds < end {
                        newest = max(newest, times[stop].nanoseconds)
                        stop += 1
                    }
                    for (number, place) in sources[source].places.enumerated() {
                        guard let column = sources[source].columns[number] else { continue }
                        windows[index].accumulators[place].add(
                            values,
                            times,
                            rows: row..<stop,
                            width: width,
                            column: column,
                            by: rule.reduction
                        )
                    }
                    windows[index].newest = max(windows[index].newest, newest)
                    sources[source].newest = max(sources[source].newest, newest)
                    lateSince = nil
                    row = stop
                }
            }
        }
    }

    /// Closes the windows that ended before `limit`.
    mutating func closeWindows(endingBy limit: Int64, _ surroundings: Surroundings, into points: inout [DataPoint]) {
        while let window = windows.first, window.end <= limit {
            windows.removeFirst()
            close(window, at: window.end, surroundings, into: &points)
        }
    }

    /// Closes what is open, although it has not ended: its points carry the time of their last sample.
    mutating func closeAll(_ surroundings: Surroundings, into points: inout [DataPoint]) {
        while !windows.isEmpty {
            let window = windows.removeFirst()
            close(window, at: min(window.end, window.newest), surroundings, into: &points)
            closedThrough = max(closedThrough, window.newest)
        }
    }

    /// Forgets what was published, so that the next window publishes whatever it holds.
    mutating func forgetPublished() {
        published = nil
        previous = Array(repeating: .missing, count: rule.fields.count)
    }

    /// Learns where the fields of a stream are; counts those that are not there.
    private mutating func adopt(_ stream: Stream, source: Int) {
        guard sources[source].layout != stream else { return }
        sources[source].layout = stream
        sources[source].columns = sources[source].places.map { stream.index(of: rule.fields[$0].field) }
        counts.unusable += sources[source].columns.count { $0 == nil }
    }

    /// The place of the open window for a sample of that time, opened if need be; nil when the sample is late.
    private mutating func window(
        for time: Int64,
        arrival: BootInstant,
        source: Int,
        _ surroundings: Surroundings,
        _ points: inout [DataPoint]
    ) -> Int? {
        if let first = windows.first, time >= first.start, time < first.end { return 0 }
        // What this sample's stream has now reached may close windows, before one is opened for the sample.
        let reached = sources.indices.reduce(Int64.max) { least, other in
            min(least, other == source ? max(sources[other].newest, time) : sources[other].newest)
        }
        closeWindows(endingBy: reached, surroundings, into: &points)
        if let index = windows.firstIndex(where: { time >= $0.start && time < $0.end }) { return index }
        guard let window = Window(holding: time, period: period, fields: rule.fields.count) else {
            counts.unusable += 1
            return nil
        }
        let isLate = time < closedThrough || window.end <= sources[source].newest && isPassed(window.end, by: source)
        if isLate {
            guard goesBack(arrival) else {
                counts.late += 1
                return nil
            }
            restart()
        }
        if windows.count == RuleState.mostWindows, let oldest = windows.first {
            windows.removeFirst()
            close(oldest, at: oldest.end, surroundings, into: &points)
        }
        let place = windows.firstIndex { $0.start > window.start } ?? windows.count
        windows.insert(window, at: place)
        return place
    }

    /// Whether every stream has gone beyond `end`, so that a window up to there would be closed already.
    private func isPassed(_ end: Int64, by source: Int) -> Bool {
        sources.allSatisfy { $0.newest >= end }
    }

    /// Whether nothing but late samples has come for so long that the clock of the samples must have been set back.
    private mutating func goesBack(_ arrival: BootInstant) -> Bool {
        guard let since = lateSince else {
            lateSince = arrival
            return false
        }
        return since.duration(to: arrival) >= goesBackAfter
    }

    /// Begins anew at an earlier time. Open windows are dropped: their time is one that has not come yet.
    private mutating func restart() {
        windows.removeAll()
        closedThrough = .min
        lateSince = nil
        for index in sources.indices { sources[index].newest = .min }
        counts.restarts += 1
    }

    private mutating func close(
        _ window: Window,
        at time: Int64,
        _ surroundings: Surroundings,
        into points: inout [DataPoint]
    ) {
        closedThrough = max(closedThrough, time)
        var values: [Value] = []
        values.reserveCapacity(window.accumulators.count)
        for (place, accumulator) in window.accumulators.enumerated() {
            let value = accumulator.result(of: rule.reduction, previous: previous[place])
            if value == .missing, accumulator.count > 0 { counts.unusable += 1 }
            if rule.reduction == .delta, accumulator.count > 0 { previous[place] = accumulator.last }
            values.append(value)
        }
        guard values.contains(where: { $0 != .missing }) else { return }
        guard differs(values) else {
            counts.suppressed += 1
            return
        }
        let createdAt = Timestamp(nanoseconds: time)
        guard let text = text(of: values, at: createdAt, device: surroundings.device) else {
            counts.unusable += 1
            return
        }
        published = values.map { ($0, PlainText.text(of: $0, precision: rule.precision)) }
        counts.published += 1
        let location = rule.location.flatMap { surroundings.location(from: $0, at: createdAt, every: rule.every) }
        points.append(DataPoint(feed: rule.feed, value: text, createdAt: createdAt, location: location))
    }

    private func text(of values: [Value], at time: Timestamp, device: String) -> String? {
        if rule.isComposite {
            return CompositeText.object(of: rule, device: device, time: time, values: values)
        }
        guard let text = PlainText.text(of: values[0], precision: rule.precision),
            text.utf8.count <= PointLimits.valueBytes
        else { return nil }
        return text
    }

    /// Whether any field differs enough from what was last published.
    private func differs(_ values: [Value]) -> Bool {
        guard rule.onChange || rule.deadBand != nil, let published else { return true }
        return zip(values, published).contains { value, old in
            if let band = rule.deadBand, let number = value.number, let before = old.value.number {
                return (number - before).magnitude > band
            }
            return PlainText.text(of: value, precision: rule.precision) != old.text
        }
    }
}
