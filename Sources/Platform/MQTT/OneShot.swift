internal import Diagnostics

/// A value that comes once. Whoever is second, the one who waits or the one who brings it, finds the first.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var cancelled: Set<Int> = []
        var nextWaiter = 0
    }

    private let state = Guarded(State())

    /// The value, once it is there.
    var current: Value? { state.withLock { $0.value } }

    /// Brings the value; only the first counts. Says whether this was the first.
    @discardableResult
    func resolve(_ value: Value) -> Bool {
        let waiters: [CheckedContinuation<Value?, Never>]? = state.withLock { state in
            guard state.value == nil else { return nil }
            state.value = value
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            return waiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(returning: value) }
        return true
    }

    /// Waits for the value, cancelled or not.
    var value: Value {
        get async {
            guard let value = await wait(id: newID()) else {
                preconditionFailure("a wait that nobody can cancel ended without a value")
            }
            return value
        }
    }

    /// Waits for the value; nil when the task is cancelled first.
    func valueUnlessCancelled() async -> Value? {
        let id = newID()
        return await withTaskCancellationHandler {
            await wait(id: id)
        } onCancel: {
            let waiter: CheckedContinuation<Value?, Never>? = state.withLock { state in
                if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
                if state.value == nil { state.cancelled.insert(id) }
                return nil
            }
            waiter?.resume(returning: nil)
        }
    }

    private func newID() -> Int {
        state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
    }

    private func wait(id: Int) async -> Value? {
        await withCheckedContinuation { continuation in
            let now: Value?? = state.withLock { state in
                if let value = state.value { return .some(value) }
                if state.cancelled.remove(id) != nil { return .some(nil) }
                state.waiters[id] = continuation
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }
}
