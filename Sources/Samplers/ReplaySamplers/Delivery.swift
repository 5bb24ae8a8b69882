internal import Diagnostics
internal import Samples

/// Hands rows over to the sink, with times that are shifted by what the first one needs.
struct Delivery {
    private let stream: Stream
    private let file: String
    private let keepTime: Bool
    private let time: any TimeSource
    private let sink: any SampleSink
    private var shift: Int64?

    init(_ stream: Stream, from configuration: ReplayConfiguration, time: any TimeSource, sink: any SampleSink) {
        self.stream = stream
        file = configuration.file
        keepTime = configuration.keepTime
        self.time = time
        self.sink = sink
    }

    /// Counts the broken rows of a chunk.
    func reject(_ chunk: ReplayChunk) {
        guard chunk.rejects > 0 else { return }
        sink.reject(chunk.rejects, of: stream.name, example: "\(file), \(chunk.example)")
    }

    /// Hands over some rows of a chunk.
    mutating func deliver(_ chunk: ReplayChunk, _ rows: Range<Int>) {
        guard let first = chunk.times[rows].first else { return }
        if shift == nil {
            shift = keepTime ? 0 : time.wall().nanoseconds &- first.nanoseconds
            sink.report(.ok, of: stream.name)
        }
        let shift = shift ?? 0
        let width = stream.fields.count
        let isWhole = rows == 0..<chunk.times.count
        let times = chunk.times[rows].map { Timestamp(nanoseconds: $0.nanoseconds &+ shift) }
        let values = isWhole ? chunk.values : Array(chunk.values[rows.lowerBound * width..<rows.upperBound * width])
        sink.receive(SampleBatch(stream, arrival: time.boot(), times: times, values: values))
    }
}
