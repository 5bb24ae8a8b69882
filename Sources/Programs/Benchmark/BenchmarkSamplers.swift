internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import Glibc
internal import HostSamplers
internal import IIOSamplers
internal import ReplaySamplers
internal import Samples

/// The processor time that this program has used.
private func usedSeconds() -> Double {
    var usage = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &usage)
    return Double(usage.tv_sec) + Double(usage.tv_nsec) / 1e9
}

/// Samples a second through one rule of each reduction; one JSON line each.
func benchmarkRules(_ options: Options) throws {
    let samples = try options.number("samples", 2_000_000)
    let rows = try options.number("batch", 256)
    guard samples > 0, rows > 0, let feed = FeedKey("bench") else { throw BenchmarkError("numbers above 0, please") }
    let stream = Stream(
        Name(mapping: "accelerometer"),
        fields: ["x", "y", "z"].map { Field(Name(mapping: $0), unit: .metresPerSecondSquared) }
    )
    for reduction in Reduction.allCases {
        let field = FieldReference(stream: stream.name, field: stream.fields[0].name)
        var engine = try RuleEngine(
            [Rule(field, feed: feed, reduction: reduction, every: .seconds(1))],
            device: "bench"
        )
        var points = 0
        var batches: [SampleBatch] = []
        for first in stride(from: 0, to: samples, by: rows) {
            let times = (first..<first + rows).map { Timestamp(nanoseconds: Int64($0) * 10_000_000) }
            let values = (first..<first + rows).flatMap { [Value.real(Double($0 &* 7919 % 1000)), .real(1), .real(2)] }
            batches.append(SampleBatch(stream, arrival: BootInstant(nanoseconds: 0), times: times, values: values))
        }
        let begin = usedSeconds()
        for batch in batches { points += engine.receive(batch).count }
        let seconds = usedSeconds() - begin
        let rate = Int(Double(batches.count * rows) / seconds)
        print(#"{"benchmark":"rules","reduce":"\#(reduction.rawValue)","samples_per_s":\#(rate),"points":\#(points)}"#)
    }
}

/// Throws every batch away and notes when the first one came.
private final class CountingSink: SampleSink {
    let samples = Counter()
    let batches = Counter()
    private let first = Guarded<BootInstant?>(nil)

    var firstArrival: BootInstant? { first.withLock { $0 } }

    func receive(_ batch: SampleBatch) {
        first.withLock { $0 = $0 ?? SystemTime().boot() }
        samples.add(batch.count)
        batches.add()
    }
    func report(_ condition: SourceCondition, of stream: Name) {}
    func reject(_ count: Int, of stream: Name, example: String) {}
}

/// What reading this machine costs: microseconds a pass, and the part of a core that is at `every = 2 s`.
func benchmarkHost(_ options: Options) async throws {
    let milliseconds = try options.number("every-ms", 10)
    let sampler = HostSampler(every: .milliseconds(milliseconds))
    let sink = CountingSink()
    let begin = usedSeconds()
    let task = Task { try await sampler.run(into: sink) }
    try await SystemTime().sleep(for: .seconds(5))
    task.cancel()
    _ = await task.result
    let passes = max(1, sink.batches.value / max(1, sampler.streams.count))
    let micros = (usedSeconds() - begin) / Double(passes) * 1e6
    print(
        #"{"benchmark":"host","streams":\#(sampler.streams.count),"passes":\#(passes),"us_per_pass":\#(Int(micros)),"#
            + #""percent_of_core_at_2s":\#(micros / 2e6 * 100)}"#
    )
}

/// What part of a core the sensors below `--root` take, polled or through the buffer, and how many samples that gave.
func benchmarkIIO(_ options: Options) async throws {
    var configuration = IIOConfiguration()
    configuration.root = options.text("root", "/")
    configuration.every = .milliseconds(try options.number("every-ms", 10))
    guard let mode = IIOConfiguration.Mode(rawValue: options.text("mode", "poll")) else {
        throw BenchmarkError("--mode is poll, buffer or batch")
    }
    configuration.mode = mode
    let length = try options.number("seconds", 10)
    let sampler = try IIOSampler(configuration)
    let sink = CountingSink()
    let task = Task { try await sampler.run(into: sink) }
    while sink.firstArrival == nil { try await SystemTime().sleep(for: .milliseconds(5)) }
    let begin = (used: usedSeconds(), at: SystemTime().boot(), samples: sink.samples.value, batches: sink.batches.value)
    try await SystemTime().sleep(for: .seconds(length))
    let seconds = begin.at.duration(to: SystemTime().boot()).inSeconds
    let used = usedSeconds() - begin.used
    let rate = Double(sink.samples.value - begin.samples) / Double(max(1, sampler.streams.count)) / seconds
    let batches = sink.batches.value - begin.batches
    task.cancel()
    _ = await task.result
    print(
        #"{"benchmark":"iio","mode":"\#(mode.rawValue)","streams":\#(sampler.streams.count),"samples_per_s":\#(rate),"#
            + #""batches":\#(batches),"seconds":\#(seconds),"percent_of_core":\#(used / seconds * 100)}"#
    )
}

/// Replays a file some times at once: how soon the first sample comes, and what part of a core it takes.
///
/// `first_sample_ms` counts from the call of `run`, over several starts one after the other.
func benchmarkReplay(_ options: Options) async throws {
    let file = options.text("file", "")
    let copies = try options.number("copies", 3)
    let length = try options.number("seconds", 10)
    guard let speed = ReplaySpeed(Double(try options.number("speed", 1))), let stream = Name("accelerometer") else {
        throw BenchmarkError("--speed is 0 or more")
    }
    let samplers = try (0..<copies).map { _ in
        try ReplaySampler(ReplayConfiguration(stream: stream, file: file, speed: speed))
    }
    let starts = try await startTimes(samplers[0], times: try options.number("starts", 50))
    let sinks = samplers.map { _ in CountingSink() }
    let begin = (used: usedSeconds(), at: SystemTime().boot())
    let tasks = zip(samplers, sinks).map { sampler, sink in Task { try await sampler.run(into: sink) } }
    if speed == .asFastAsPossible {
        for task in tasks { _ = await task.result }
    } else {
        try await SystemTime().sleep(for: .seconds(length))
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }
    let seconds = begin.at.duration(to: SystemTime().boot()).inSeconds
    let used = usedSeconds() - begin.used
    let samples = sinks.reduce(0) { $0 + $1.samples.value }
    let batches = sinks.reduce(0) { $0 + $1.batches.value }
    print(
        #"{"benchmark":"replay","copies":\#(copies),"samples":\#(samples),"batches":\#(batches),"#
            + #""first_sample_ms":{"first":\#(starts[0]),"p50":\#(starts.sorted()[starts.count / 2]),"#
            + #""max":\#(starts.max() ?? -1)},"seconds":\#(seconds),"percent_of_core":\#(used / seconds * 100)}"#
    )
}

/// Milliseconds from the call of `run` to the first sample, for each of several starts.
private func startTimes(_ sampler: ReplaySampler, times: Int) async throws -> [Double] {
    var all: [Double] = []
    for _ in 0..<max(times, 1) {
        let sink = CountingSink()
        let begin = SystemTime().boot()
        let task = Task { try await sampler.run(into: sink) }
        while sink.firstArrival == nil { try await SystemTime().sleep(for: .milliseconds(5)) }
        task.cancel()
        _ = await task.result
        if let first = sink.firstArrival { all.append(begin.duration(to: first).inSeconds * 1e3) }
    }
    return all
}
