internal import CCurl
internal import Diagnostics
internal import Glibc

/// What other threads tell a client's thread, and that thread's beginning and end.
final class ClientMailbox: Sendable {
    enum Command: Sendable {
        case start(ClientCall)
        case cancel(UInt64)
    }

    private struct State {
        var lastID: UInt64 = 0
        var commands: [Command] = []
        var isClosed = false
        var thread: pthread_t?
        /// The address of the thread's multi handle while it may be woken.
        ///
        /// `curl_multi_wakeup` "can be called from any thread"; the thread takes the address away, under this lock,
        /// before it frees the handle.
        var multi: UInt = 0

        func wake() {
            if let multi = UnsafeMutableRawPointer(bitPattern: multi) { curl_multi_wakeup(multi) }
        }
    }

    private let state = Guarded(State())

    func newID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Hands a call to the thread, which is started if it is the first; the error says why that cannot be.
    func start(_ call: ClientCall, _ configuration: HTTPClientConfiguration) -> HTTPClientError? {
        state.withLock { state in
            let title = call.request.title
            guard !state.isClosed else { return HTTPClientError(.closed, request: title, detail: "") }
            if state.thread == nil {
                // Under the lock, so that `close` joins it in any case; the new thread waits for the lock first.
                state.thread = startThread(ClientThread(mailbox: self, configuration: configuration))
            }
            guard state.thread != nil else {
                return HTTPClientError(.internal, request: title, detail: "no thread could be started")
            }
            state.commands.append(.start(call))
            state.wake()
            return nil
        }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isClosed, state.thread != nil else { return }
            state.commands.append(.cancel(id))
            state.wake()
        }
    }

    func close() {
        let thread = state.withLock { state in
            state.isClosed = true
            state.wake()
            return state.thread.take()
        }
        guard let thread else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    // MARK: For the thread

    /// Says how the thread is woken.
    func attach(_ multi: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: multi)
        state.withLock { $0.multi = address }
    }

    /// After this nobody wakes the thread any more.
    func detach() {
        state.withLock { $0.multi = 0 }
    }

    /// The commands since the last call, and whether the end has come.
    func take() -> (commands: [Command], isClosed: Bool) {
        state.withLock { state in
            defer { state.commands = [] }
            return (state.commands, state.isClosed)
        }
    }
}

/// What the thread is started with.
private final class ClientThread: Sendable {
    let mailbox: ClientMailbox
    let configuration: HTTPClientConfiguration

    init(mailbox: ClientMailbox, configuration: HTTPClientConfiguration) {
        self.mailbox = mailbox
        self.configuration = configuration
    }
}

private func startThread(_ start: ClientThread) -> pthread_t? {
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 512 << 10)
    let argument = Unmanaged.passRetained(start)
    guard pthread_create(&thread, &attributes, clientThread, argument.toOpaque()) == 0 else {
        argument.release()
        return nil
    }
    return thread
}

private func clientThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Signals are for the program's other threads; a write to a closed connection is an error code, no SIGPIPE.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    feedbridge_curl_name_thread("http-client")
    guard let argument else { return nil }
    let start = Unmanaged<ClientThread>.fromOpaque(argument).takeRetainedValue()
    ClientLoop(start.mailbox, start.configuration).run()
    return nil
}
