internal import Diagnostics

/// Messages that were handed over together, and what becomes of them.
public struct MQTTSubmission: Sendable {
    let group: PublishGroup

    /// For each message nil or why not, once all their promises are kept or broken. It waits on when the task is cancelled.
    public var errors: [MQTTError?] {
        get async { await group.errors }
    }
}

/// Messages that one caller waits for together: one, or a batch.
final class PublishGroup: Sendable {
    let messages: [MQTTPublication]
    /// The places of messages that must not be sent.
    let rejected: Set<Int>
    private let outcome = OneShot<[MQTTError?]>()
    private let state: Guarded<State>

    private struct State {
        var errors: [MQTTError?]
        var isSettled: [Bool]
        var left: Int
        var isCancelled = false
    }

    /// `problem` says why a message must not be sent, nil for a good one.
    init(_ messages: [MQTTPublication], problem: (MQTTPublication) -> MQTTError? = { _ in nil }) {
        self.messages = messages
        var problems: [Int: MQTTError] = [:]
        for (index, message) in messages.enumerated() { problems[index] = problem(message) }
        rejected = Set(problems.keys)
        state = Guarded(
            State(
                errors: Array(repeating: nil, count: messages.count),
                isSettled: Array(repeating: false, count: messages.count),
                left: messages.count
            )
        )
        if messages.isEmpty { outcome.resolve([]) }
        for (index, error) in problems { settle(index, error) }
    }

    /// For each message nil or what went wrong, once all are settled.
    var errors: [MQTTError?] {
        get async { await outcome.value }
    }

    /// Settles one message; only the first settlement of each counts.
    func settle(_ index: Int, _ error: MQTTError?) {
        let done: [MQTTError?]? = state.withLock { state in
            guard !state.isSettled[index] else { return nil }
            state.isSettled[index] = true
            state.errors[index] = error
            state.left -= 1
            return state.left == 0 ? state.errors : nil
        }
        if let done { outcome.resolve(done) }
    }

    /// Settles all that are not settled yet.
    func settleRest(from start: Int = 0, _ error: MQTTError) {
        for index in start..<max(start, messages.count) { settle(index, error) }
    }

    /// Whether the caller wants no more of it.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Notes that the caller wants no more of it; the connection's thread does the rest.
    func markCancelled() { state.withLock { $0.isCancelled = true } }
}
