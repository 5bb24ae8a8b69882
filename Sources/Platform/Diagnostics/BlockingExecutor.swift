internal import Dispatch

/// An executor with a queue of its own, for calls into C or the kernel that may block.
///
/// Swift's cooperative pool has one thread a core: two blocked calls would stop everything on a small machine. An actor
/// whose `unownedExecutor` is this one, or a task that prefers it, blocks only its own queue.
public final class BlockingExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    /// Makes an executor; `label` shows in debuggers.
    public init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs the job on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        queue.async {
            unowned.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor()
            )
        }
    }

    /// This executor, for an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Stops the program with a message when called from outside the queue.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Runs `body` on the queue and waits for it without blocking the caller's thread.
    public func run<Result: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try outcome.get()
    }
}
