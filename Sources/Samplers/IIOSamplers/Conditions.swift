internal import Diagnostics
internal import Samples

/// Reports how streams are doing, when it changes.
final class Conditions: Sendable {
    private let sink: any SampleSink
    private let last = Guarded<[Name: SourceCondition]>([:])

    init(_ sink: any SampleSink) {
        self.sink = sink
    }

    /// Reports `condition` of a stream unless that was said last.
    func report(_ condition: SourceCondition, of stream: Name) {
        let isNew = last.withLock { $0.updateValue(condition, forKey: stream) != condition }
        if isNew { sink.report(condition, of: stream) }
    }
}
