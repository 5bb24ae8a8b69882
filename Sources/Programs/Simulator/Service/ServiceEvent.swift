internal import Diagnostics

/// What happens on an account, for the pages of its dashboards.
enum ServiceEvent: Sendable {
    /// A value was stored in a feed.
    case point(StoredFeed, StoredDatum, isLast: Bool)
    /// A dashboard, its blocks or their places were changed.
    case dashboardChanged(key: String)
    /// The service complained: `kind` is `throttle` or `errors`.
    case notice(kind: String, text: String, Timestamp)
}

/// Hands what happens on each account to everybody who listens to it.
final class EventHub: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: (account: String, continuation: AsyncStream<ServiceEvent>.Continuation)] = [:]
    }

    /// How many events may wait for a slow listener; beyond that the oldest are dropped.
    static let capacity = 512

    private let state = Guarded(State())
    /// Events that a slow listener did not get.
    let dropped = Counter()

    /// The events of an account from now on, for one listener.
    func events(of account: String) -> AsyncStream<ServiceEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServiceEvent.self,
            bufferingPolicy: .bufferingNewest(EventHub.capacity)
        )
        let id = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = (account, continuation)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Hands an event to the listeners of an account; never waits.
    func send(_ event: ServiceEvent, to account: String) {
        let listeners = state.withLock { state in
            state.listeners.values.filter { $0.account == account }.map(\.continuation)
        }
        for listener in listeners {
            if case .dropped = listener.yield(event) { dropped.add() }
        }
    }

    /// The number of listeners.
    var count: Int { state.withLock { $0.listeners.count } }
}
