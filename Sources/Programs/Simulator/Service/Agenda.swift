internal import Diagnostics
internal import Sockets

/// What is to be done later, on the loop's thread. Nothing wakes up while nothing is due.
final class Agenda: Sendable {
    private struct State {
        var next = 0
        var entries: [Int: (due: BootInstant, action: @Sendable () -> Void)] = [:]
        var sleeper: (due: BootInstant, task: Task<Void, Never>)?
        var isOver = false
    }

    private let time: any TimeSource
    private let loop: EventLoop
    private let state = Guarded(State())

    init(time: any TimeSource, loop: EventLoop) {
        self.time = time
        self.loop = loop
    }

    /// Has `action` done at `due`, or soon after; the number cancels it.
    @discardableResult
    func add(at due: BootInstant, _ action: @escaping @Sendable () -> Void) -> Int {
        let id = state.withLock { state -> Int in
            state.next += 1
            if !state.isOver { state.entries[state.next] = (due, action) }
            return state.next
        }
        sleep()
        return id
    }

    func cancel(_ id: Int?) {
        guard let id else { return }
        // The sleeper may wake for nothing once; that is cheaper than to find the next entry here.
        _ = state.withLock { $0.entries.removeValue(forKey: id) }
    }

    /// Forgets everything and takes nothing more.
    func end() {
        let task = state.withLock { state in
            state.isOver = true
            state.entries = [:]
            return state.sleeper.take()?.task
        }
        task?.cancel()
    }

    private func sleep() {
        let old = state.withLock { state -> Task<Void, Never>? in
            guard !state.isOver, let due = state.entries.values.map(\.due).min() else { return nil }
            if let sleeper = state.sleeper, sleeper.due <= due { return nil }
            let old = state.sleeper?.task
            let task = Task { [weak self, time] in
                guard (try? await time.sleep(until: due)) != nil else { return }
                self?.wake(due)
            }
            state.sleeper = (due, task)
            return old
        }
        old?.cancel()
    }

    private func wake(_ due: BootInstant) {
        let now = time.boot()
        let actions = state.withLock { state in
            if state.sleeper?.due == due { state.sleeper = nil }
            let ready = state.entries.filter { $0.value.due <= now }.sorted {
                ($0.value.due, $0.key) < ($1.value.due, $1.key)
            }
            for (id, _) in ready { state.entries[id] = nil }
            return ready.map(\.value.action)
        }
        for action in actions { loop.execute(action) }
        sleep()
    }
}
