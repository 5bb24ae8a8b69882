internal import Glibc

/// Starts threads of our own, for code that waits in C or in the kernel for as long as it likes.
///
/// Unlike a queue's threads such a thread may be given up: nobody waits for it, and the process may exit under it.
public enum OwnThread {
    /// Runs `body` on a new detached thread; `name` (at most 15 bytes) shows in `top -H` and debuggers.
    public static func start(name: String, stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var thread = pthread_t()
        // Room for the attributes and no initializer: Swift counts that one to a module of Dispatch.
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { room in
            guard let attributes = room.baseAddress else { return ENOMEM }
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(attributes, stackBytes)
            return pthread_create(&thread, attributes, runThreadBody, box.toOpaque())
        }
        precondition(code == 0, "cannot start the thread \(name): \(String(cString: strerror(code)))")
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let body = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    nameThisThread(body.name)
    body.run()
    return nil
}

// pthread_setname_np is a GNU extension that the Glibc module does not show; the kernel's file does the same.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(file, bytes, bytes.count)
}
