public import DataPoints
public import Diagnostics

/// A bounded queue of data points in memory. When it is full the oldest point goes, and is counted.
///
/// Safe from any thread; one task at a time waits in `first()`.
public final class PointBuffer: PointQueue {
    private struct State {
        var points: [QueuedPoint] = []
        var nextID = 1
        var counts = PointCounts()
        var waiting: CheckedContinuation<QueuedPoint?, Never>?
    }

    private let capacity: Int
    private let time: any TimeSource
    private let state = Guarded(State())

    /// Makes an empty buffer for at most `capacity` points.
    public init(capacity: Int, time: any TimeSource) {
        precondition(capacity > 0, "a buffer holds at least one point")
        self.capacity = capacity
        self.time = time
    }

    /// Takes points; drops the oldest when there are too many.
    public func append(_ points: [DataPoint]) {
        guard !points.isEmpty else { return }
        let now = time.boot()
        let wake = state.withLock { state -> (CheckedContinuation<QueuedPoint?, Never>, QueuedPoint)? in
            for point in points {
                state.points.append(QueuedPoint(id: state.nextID, point: point, queuedAt: now))
                state.nextID += 1
            }
            state.counts.accepted += points.count
            let excess = state.points.count - capacity
            if excess > 0 {
                state.points.removeFirst(excess)
                state.counts.evicted += excess
            }
            guard let waiting = state.waiting, let first = state.points.first else { return nil }
            state.waiting = nil
            return (waiting, first)
        }
        if let (waiting, first) = wake { waiting.resume(returning: first) }
    }

    /// The oldest waiting point, which stays until it is confirmed or refused.
    public func first() async throws -> QueuedPoint {
        try Task.checkCancellation()
        let point = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<QueuedPoint?, Never>) in
                let now = state.withLock { state -> QueuedPoint?? in
                    if let first = state.points.first { return first }
                    if Task.isCancelled { return .some(nil) }
                    precondition(state.waiting == nil, "one task at a time waits for the first point")
                    state.waiting = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }?.resume(returning: nil)
        }
        guard let point else { throw CancellationError() }
        return point
    }

    /// Removes the point, if it was not evicted meanwhile, and counts it as confirmed.
    public func confirm(_ id: Int) {
        remove(id) { $0.confirmed += 1 }
    }

    /// Removes the point, if it is still there, and counts it as evicted.
    public func evict(_ id: Int) {
        remove(id) { $0.evicted += 1 }
    }

    /// Removes the point, if it was not evicted meanwhile, and counts it as refused.
    public func refuse(_ id: Int, reason: String) {
        remove(id) { $0.refused += 1 }
    }

    /// What became of all points so far.
    public var counts: PointCounts { state.withLock { $0.counts } }

    private func remove(_ id: Int, _ count: @Sendable (inout PointCounts) -> Void) {
        state.withLock { state in
            guard let index = state.points.firstIndex(where: { $0.id == id }) else { return }
            state.points.remove(at: index)
            count(&state.counts)
        }
    }
}
