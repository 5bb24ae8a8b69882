public import Diagnostics
public import Samples

/// A recording in a file, replayed as if its sensor were here: at its own pace, faster, slower, or as fast as possible.
///
/// The file is a CSV, plain or gzip by its content, read in memory that does not grow with it. Its header names the time
/// (`time_ns`, `time_ms`, `time_s`; a bare `time` of 16 digits or more is nanoseconds, else seconds) and the fields; columns
/// called `-` are skipped, lines that begin with `#` are comments. Units and kinds of a known stream's fields are its own.
///
/// Unless `keepTime`, all times are shifted alike so that the first sample is now; the distances between them stay those of
/// the recording, also at another speed, since what is derived from them depends on it.
public final class ReplaySampler: Sampler {
    /// `replay`.
    public let kind = "replay"

    /// The one stream of the file.
    public let streams: [Stream]

    private let configuration: ReplayConfiguration
    private let layout: Layout
    private let time: any TimeSource
    private let reader = ReplayReader()

    /// Reads the header and some rows; it may block as long as the disk does.
    ///
    /// Throws one sentence with place and remedy when the file is missing, or has no header, time or field.
    public init(_ configuration: ReplayConfiguration, time: any TimeSource = SystemTime()) throws(ReplayError) {
        let found = try FieldFinder(configuration.file, stream: configuration.stream)
        self.configuration = configuration
        self.time = time
        layout = found.layout
        streams = [Stream(configuration.stream, fields: found.fields)]
    }

    /// Replays the file once, from its start; returns at its end.
    public func run(into sink: any SampleSink) async throws {
        do {
            switch configuration.speed {
            case .times(let speed): try await replay(at: speed, into: sink)
            case .asFastAsPossible: try await replayAtOnce(into: sink)
            }
            sink.report(.silent, of: configuration.stream)
        } catch {
            await reader.close()
            if let error = error as? ReplayError { sink.report(.error(error.description), of: configuration.stream) }
            throw error
        }
    }

    /// The first row of the file.
    public func readings() async -> [SensorReading] {
        let (file, stream) = (configuration.file, streams[0])
        let executor = BlockingExecutor(label: "feedbridge.replay.find")
        do {
            let values = try await executor.run { () throws(ReplayError) in
                try FieldFinder(file, stream: stream.name).firstValues
            }
            guard values.count == stream.fields.count else {
                let condition = SourceCondition.error("\(file): the header has changed since the start. Restart.")
                return [
                    SensorReading(stream: stream, values: stream.fields.map { _ in .missing }, condition: condition)
                ]
            }
            return [SensorReading(stream: stream, values: values, condition: .ok)]
        } catch {
            let condition = SourceCondition.missing(error.description)
            return [SensorReading(stream: stream, values: stream.fields.map { _ in .missing }, condition: condition)]
        }
    }

    private func replay(at speed: Double, into sink: any SampleSink) async throws {
        var pace = Pace(speed: speed)
        var delivery = Delivery(streams[0], from: configuration, time: time, sink: sink)
        var chunk = try await reader.open(configuration.file, layout: layout, fields: streams[0].fields)
        var last = time.boot()
        while true {
            try Task.checkCancellation()
            delivery.reject(chunk)
            var handed = 0
            var row = 0
            while row < chunk.times.count {
                let now = time.boot()
                let due = pace.due(chunk.times[row], now: now)
                if due > now {
                    if handed < row {
                        delivery.deliver(chunk, handed..<row)
                        last = now
                        handed = row
                    }
                    try await time.sleep(until: Pace.wake(for: due, last: last))
                }
                row += 1
            }
            if handed < row {
                delivery.deliver(chunk, handed..<row)
                last = time.boot()
            }
            if chunk.isLast { return }
            chunk = try await reader.next(1024)
        }
    }

    private func replayAtOnce(into sink: any SampleSink) async throws {
        var delivery = Delivery(streams[0], from: configuration, time: time, sink: sink)
        var chunk = try await reader.open(configuration.file, layout: layout, fields: streams[0].fields)
        while true {
            try Task.checkCancellation()
            delivery.reject(chunk)
            if !chunk.times.isEmpty {
                delivery.deliver(chunk, 0..<chunk.times.count)
                try await sink.waitForRoom()
            }
            if chunk.isLast { return }
            chunk = try await reader.next(4096)
        }
    }
}
