public import Diagnostics
public import Samples

/// A sink that keeps everything that it is given, for a test to look at or to wait for.
public final class CollectingSink: SampleSink {
    /// All that came so far.
    public struct Contents: Sendable {
        /// The batches, in their order.
        public var batches: [SampleBatch] = []
        /// The reports, in their order.
        public var reports: [(condition: SourceCondition, stream: Name)] = []
        /// The rejects, in their order.
        public var rejects: [(count: Int, stream: Name, example: String)] = []

        /// The samples of one stream: time and values.
        public func samples(of stream: String) -> [(time: Timestamp, values: [Value])] {
            batches.filter { $0.stream.name.text == stream }.flatMap { batch in
                (0..<batch.count).map { (batch.times[$0], Array(batch.sample($0))) }
            }
        }

        /// The words of the reports on one stream.
        public func words(of stream: String) -> [String] {
            reports.filter { $0.stream.text == stream }.map(\.condition.word)
        }

        /// The number of samples of all streams.
        public var count: Int { batches.reduce(0) { $0 + $1.count } }
    }

    private struct State {
        var contents = Contents()
        var waiters: [(isMet: @Sendable (Contents) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    /// Makes an empty one.
    public init() {}

    /// What came so far.
    public var contents: Contents { state.withLock { $0.contents } }

    /// Keeps the batch.
    public func receive(_ batch: SampleBatch) { change { $0.batches.append(batch) } }

    /// Keeps the report.
    public func report(_ condition: SourceCondition, of stream: Name) {
        change { $0.reports.append((condition, stream)) }
    }

    /// Keeps the reject.
    public func reject(_ count: Int, of stream: Name, example: String) {
        change { $0.rejects.append((count, stream, example)) }
    }

    /// Waits until the contents are such that `isMet`.
    public func until(_ isMet: @escaping @Sendable (Contents) -> Bool) async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if isMet(state.contents) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if now { continuation.resume() }
        }
    }

    private func change(_ body: (inout Contents) -> Void) {
        let ready = state.withLock { state in
            body(&state.contents)
            let contents = state.contents
            let ready = state.waiters.filter { $0.isMet(contents) }.map(\.continuation)
            state.waiters.removeAll { $0.isMet(contents) }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }
}
