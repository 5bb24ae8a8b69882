#if FEEDBRIDGE_THREAD_SANITIZER
    internal import Glibc

    /// A value behind a lock. This form uses a `pthread_mutex_t`, which the thread sanitizer sees.
    public final class Guarded<Value: ~Copyable>: @unchecked Sendable {
        // Sendable: `value` is read and written only while `mutex` is held.
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var value: Value

        /// Makes a lock around `value`.
        public init(_ value: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
            self.value = value
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Runs `body` with the value while the lock is held. Decide in here; act after it.
        public func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value)
        }
    }
#else
    internal import Synchronization

    /// A value behind a lock: the one lock type of the project, so that a thread sanitizer build can replace it.
    ///
    /// The standard library's `Mutex` is invisible to the thread sanitizer; building with
    /// `-D FEEDBRIDGE_THREAD_SANITIZER` uses a `pthread_mutex_t` instead.
    public final class Guarded<Value: ~Copyable>: Sendable {
        private let mutex: Mutex<Value>

        /// Makes a lock around `value`.
        public init(_ value: consuming sending Value) {
            mutex = Mutex(value)
        }

        /// Runs `body` with the value while the lock is held. Decide in here; act after it.
        public func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }
#endif
