// Thread rule: sockets of a loop are touched on the loop's thread only, except where a method says otherwise.
internal import CEpoll
internal import Diagnostics
internal import Glibc

/// A thread that waits for sockets, and runs jobs between: an executor for the actor that owns the connections.
///
/// An actor whose `unownedExecutor` is a loop runs on the loop's thread, so what sockets report can enter it without a
/// hop (`assumeIsolated`). The thread ends, and closes what is open, when the loop
/// is no longer referenced.
public final class EventLoop: SerialExecutor {
    let core: LoopCore

    /// Starts the thread; `name` shows in `top -H`, cut to 15 bytes.
    public init(name: String) throws(SocketError) {
        core = try LoopCore()
        let start = LoopStart(core: core, name: name)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(start)
        let code = pthread_create(&thread, nil, runLoop, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SocketError(action: .poll, address: "", code: code)
        }
        pthread_detach(thread)
    }

    deinit {
        core.end()
    }

    /// Runs the job on the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        core.execute { unowned.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs `body` on the loop's thread, after what is already waiting there. Safe from any thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        core.execute(body)
    }

    /// Runs `body` on the loop's thread and waits for it without blocking the caller's.
    public func run<Result: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
            core.execute {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try outcome.get()
    }

    /// This executor, for an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { core.isCurrent }

    /// Stops the program with a message when called from another thread than the loop's.
    public func checkIsolated() {
        core.checkIsolated()
    }

    /// Whether the caller is on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

private final class LoopStart: Sendable {
    let core: LoopCore
    let name: String

    init(core: LoopCore, name: String) {
        self.core = core
        self.name = name
    }
}

// A free function: a closure here would inherit an isolation that the C thread does not have.
private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue()
    pthread_setname_np(pthread_self(), String(start.name.prefix(15)))
    start.core.run()
    return nil
}
