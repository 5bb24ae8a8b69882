public import Diagnostics

/// A time that moves only when a test says so.
public final class ManualTime: TimeSource {
    private struct Sleeper {
        var id: Int
        var deadline: BootInstant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var wall: Timestamp
        var boot: BootInstant
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Guarded<State>

    /// Starts at `wall` and at `boot` since boot.
    public init(
        wall: Timestamp = Timestamp(nanoseconds: 1_790_000_000_000_000_000),
        boot: BootInstant = BootInstant(nanoseconds: 1_000_000_000_000)
    ) {
        state = Guarded(State(wall: wall, boot: boot))
    }

    /// The wall clock as it stands.
    public func wall() -> Timestamp { state.withLock { $0.wall } }

    /// The boot-time clock as it stands.
    public func boot() -> BootInstant { state.withLock { $0.boot } }

    /// Waits until a test has moved the clock to `deadline`.
    public func sleep(until deadline: BootInstant) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                enum Outcome {
                    case due
                    case cancelled
                    case waits([CheckedContinuation<Void, Never>])
                }
                let outcome: Outcome = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .cancelled }
                    guard deadline > state.boot else { return .due }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    let count = state.sleepers.count
                    let ready = state.waiters.filter { $0.count <= count }.map(\.continuation)
                    state.waiters.removeAll { $0.count <= count }
                    return .waits(ready)
                }
                switch outcome {
                case .due: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .waits(let ready): for waiter in ready { waiter.resume() }
                }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves both clocks forward and wakes who is due.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.wall = state.wall + duration
            state.boot = state.boot.advanced(by: duration)
            let now = state.boot
            let due = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return due.sorted { $0.deadline < $1.deadline }.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Steps the wall clock alone, as `date -s` does.
    public func setWall(_ wall: Timestamp) {
        state.withLock { $0.wall = wall }
    }

    /// Waits until at least `count` tasks sleep on this clock.
    public func untilSleeping(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if now { continuation.resume() }
        }
    }
}
