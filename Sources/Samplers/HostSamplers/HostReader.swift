// Thread rule: everything below `/proc` and `/sys` is read on the reader's own executor: a sensor on a slow bus may take
// a while to answer, and must not hold a thread of Swift's pool.
internal import Diagnostics
internal import KernelFiles
internal import Samples

/// Reads all of this machine's files, pass by pass.
actor HostReader {
    /// What it can give, in a fixed order.
    nonisolated let streams: [Stream]

    private nonisolated let executor = BlockingExecutor(label: "feedbridge.host")
    private let sources: [any HostSource]
    private let buffer = ReadBuffer()
    private var conditions: [SourceCondition?]
    private var lastPass: BootInstant?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Finds what is there. This reads files, so it may block.
    init(proc: String, sys: String) {
        let found: [(any HostSource)?] = [
            NumbersSource.load(proc: proc), NumbersSource.uptime(proc: proc), CPUSource(proc: proc),
            MemorySource(proc: proc), CountersSource(proc: proc, sys: sys, .network),
            CountersSource(proc: proc, sys: sys, .disk), ThermalSource(sys: sys), HwmonSource(sys: sys),
            BacklightSource(sys: sys),
        ]
        sources = found.compactMap { $0 }
        streams = sources.flatMap(\.streams)
        conditions = Array(repeating: nil, count: streams.count)
    }

    /// Begins rates and reports anew.
    func begin() {
        lastPass = nil
        for index in conditions.indices { conditions[index] = nil }
    }

    /// Reads everything once and hands it to `sink`.
    func pass(into sink: any SampleSink, time: any TimeSource) {
        for (stream, reading) in readAll(now: time.boot()) {
            if let condition = reading.condition, condition != conditions[stream] {
                conditions[stream] = condition
                sink.report(condition, of: streams[stream].name)
            }
            guard let values = reading.values else { continue }
            sink.receive(SampleBatch(streams[stream], arrival: time.boot(), time: time.wall(), values))
        }
    }

    /// Reads everything once, for showing.
    func readings(time: any TimeSource) -> [SensorReading] {
        var found: [SensorReading] = []
        for (stream, reading) in readAll(now: time.boot()) {
            if let condition = reading.condition { conditions[stream] = condition }
            let values = reading.values ?? streams[stream].fields.map { _ in .missing }
            found.append(
                SensorReading(stream: streams[stream], values: values, condition: conditions[stream] ?? .silent)
            )
        }
        return found
    }

    private func readAll(now: BootInstant) -> [(stream: Int, reading: HostReading)] {
        let seconds = lastPass.map { $0.duration(to: now).inSeconds }
        lastPass = now
        var all: [(stream: Int, reading: HostReading)] = []
        all.reserveCapacity(streams.count)
        var readings: [HostReading] = []
        var first = 0
        for source in sources {
            readings.removeAll(keepingCapacity: true)
            source.read(seconds: seconds, buffer: buffer, into: &readings)
            for reading in readings { all.append((first + reading.stream, reading)) }
            first += source.streams.count
        }
        return all
    }
}
