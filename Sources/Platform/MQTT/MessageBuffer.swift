internal import Diagnostics

/// What a subscription does when messages come faster than they are read.
public enum MQTTBuffer: Sendable, Equatable {
    /// Keeps the newest `n`; an older one makes room.
    case newest(Int)
    /// Keeps all, up to `n`; a message that finds it full is dropped.
    case all(upTo: Int)

    var capacity: Int {
        switch self {
        case .newest(let count), .all(upTo: let count): max(count, 1)
        }
    }
}

/// The bounded queue between the connection's thread and whoever reads a subscription.
final class MessageBuffer: Sendable {
    private struct State {
        var messages: [MQTTMessage?] = []
        var head = 0
        var isFinished = false
        var dropped = 0
        var waiters: [(id: Int, continuation: CheckedContinuation<MQTTMessage?, Never>)] = []
        var cancelled: Set<Int> = []
        var nextWaiter = 0

        var count: Int { messages.count - head }

        mutating func popFirst() -> MQTTMessage? {
            guard head < messages.count else { return nil }
            let message = messages[head]
            messages[head] = nil
            head += 1
            if head == messages.count {
                messages.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 256, head * 2 >= messages.count {
                messages.removeFirst(head)
                head = 0
            }
            return message
        }
    }

    private let policy: MQTTBuffer
    private let state = Guarded(State())

    init(_ policy: MQTTBuffer) {
        self.policy = policy
    }

    /// How many messages nobody will read because there was no room.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Adds a message, or drops one as the policy says. Returns whether one was dropped.
    @discardableResult
    func add(_ message: MQTTMessage) -> Bool {
        let (waiter, wasDropped): (CheckedContinuation<MQTTMessage?, Never>?, Bool) = state.withLock { state in
            guard !state.isFinished else { return (nil, false) }
            if !state.waiters.isEmpty { return (state.waiters.removeFirst().continuation, false) }
            guard state.count >= policy.capacity else {
                state.messages.append(message)
                return (nil, false)
            }
            state.dropped += 1
            if case .newest = policy {
                _ = state.popFirst()
                state.messages.append(message)
            }
            return (nil, true)
        }
        waiter?.resume(returning: message)
        return wasDropped
    }

    /// Says that no more will come; what is there can still be read.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            let waiters = state.waiters.map(\.continuation)
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// The next message; nil after the last one, or when the task is cancelled.
    func next() async -> MQTTMessage? {
        let (id, ready): (Int, MQTTMessage?) = state.withLock { state in
            state.nextWaiter += 1
            return (state.nextWaiter, state.waiters.isEmpty ? state.popFirst() : nil)
        }
        if let ready { return ready }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: MQTTMessage?? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .some(nil) }
                    if let message = state.popFirst() { return .some(message) }
                    if state.isFinished { return .some(nil) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter: CheckedContinuation<MQTTMessage?, Never>? = state.withLock { state in
                if let index = state.waiters.firstIndex(where: { $0.id == id }) {
                    return state.waiters.remove(at: index).continuation
                }
                state.cancelled.insert(id)
                return nil
            }
            waiter?.resume(returning: nil)
        }
    }
}
